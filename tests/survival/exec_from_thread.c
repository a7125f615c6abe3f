// expect-exit: 11
// needs: kernel (execve)
//
// A thread replaces the process, with CUDA in use, by the program itself in its second life.
#include "process.h"

#include <pthread.h>

static void *replace(void *program)
{
    fflush(stdout);
    execl("/proc/self/exe", (char *)program, "again", (char *)NULL);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    use_cuda(argc > 1 ? "second life" : "first life");
    if (argc > 1)
        return 11;
    CHECK(pthread_create(&thread, NULL, replace, argv[0]));
    pthread_join(thread, NULL);
    puts("exec failed");
    return 1;
}
