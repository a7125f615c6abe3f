// expect-exit: 0
// options: verbosity=2
// says: loaded, and saw no use of CUDA in this process
//
// A program closes its standard error in mid-course, and its next file gets the number. What the
// library has to say at the end goes into no file of the program's.
#include "descriptors.h"

#include <sys/stat.h>
#include <sys/wait.h>

static void replace_and_end(const char *path)
{
    use_cuda("child");
    fflush(stdout);
    close(2);
    if (open(path, O_RDWR | O_CREAT | O_TRUNC, 0600) != 2)
        puts("a descriptor was not free");
    churn(100);
    exit(0);
}

int main(void)
{
    char path[] = "/tmp/survival-XXXXXX";
    struct stat data = {.st_size = -1};
    int status = -1;
    close(mkstemp(path));
    pid_t child = fork();
    if (child == 0)
        replace_and_end(path);
    waitpid(child, &status, 0);
    stat(path, &data);
    unlink(path);
    printf("status %d, written by strangers: %ld\n", status, (long)data.st_size);
    return 0;
}
