// expect-exit: 0
//
// A daemon's way: every descriptor from 3 on is closed after CUDA is in use, and the next files
// take their numbers. They must not receive what the library writes when the process ends.
#include "descriptors.h"

#include <sys/stat.h>
#include <sys/wait.h>

enum { FILES = 16 };

static char folder[] = "/tmp/survival-XXXXXX";

static const char *file_name(int i)
{
    static char path[64];
    snprintf(path, sizeof path, "%s/%d", folder, i);
    return path;
}

static void use_close_and_open(void)
{
    use_cuda("child");
    fflush(stdout);
    for (int i = 3; i < 256; i++)
        close(i);
    for (int i = 0; i < FILES; i++) {
        if (open(file_name(i), O_RDWR | O_CREAT, 0600) != i + 3)
            puts("a descriptor was not free");
    }
    churn(500);
    exit(0);
}

int main(void)
{
    int status = -1;
    long strange = 0;
    struct stat found;
    if (!mkdtemp(folder))
        return 4;
    pid_t child = fork();
    if (child == 0)
        use_close_and_open();
    waitpid(child, &status, 0);
    for (int i = 0; i < FILES; i++) {
        if (stat(file_name(i), &found) == 0)
            strange += (long)found.st_size;
        unlink(file_name(i));
    }
    rmdir(folder);
    printf("status %d, written by strangers: %ld\n", status, strange);
    return 0;
}
