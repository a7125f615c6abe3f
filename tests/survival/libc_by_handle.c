// expect-exit: 0
//
// Functions of libc that are found through a handle of it, as by ctypes, JNA or P/Invoke, beside a
// copy in flight: they are the same functions as those that the program is linked with.
#include "in_flight.h"

#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/stat.h>

#include "lookup.h"

typedef ssize_t read_function(int fd, void *into, size_t size);
typedef int stat_function(const char *path, struct stat *into);
typedef int sem_function(sem_t *semaphore);
typedef int sigaction_function(int number, const struct sigaction *action, struct sigaction *old);
typedef int mask_function(int how, const sigset_t *set, sigset_t *old);

#define FOUND(type, handle, name)                                                                  \
    type *name##_found = NULL;                                                                     \
    *(void **)&name##_found = dlsym(handle, #name);

static void data(void *libc, char *edge)
{
    FOUND(read_function, libc, read)
    FOUND(stat_function, libc, stat)
    FOUND(sem_function, libc, sem_post)
    FOUND(sem_function, libc, sem_wait)
    void *of_handle = dlvsym(libc, "read", GLIBC_FIRST);
    void *of_default = dlvsym(RTLD_DEFAULT, "read", GLIBC_FIRST);
    int zero = open("/dev/zero", O_RDONLY);
    sem_t *semaphore = (sem_t *)(edge + 1024);
    CHECK(sem_init(semaphore, 0, 0));
    strcpy(edge, "/usr");
    SHOW_BESIDE(read_found(zero, edge + 100, 100));
    SHOW_BESIDE(AS(read_function, of_handle)(zero, edge + 100, 100));
    SHOW_BESIDE(AS(read_function, of_default)(zero, edge + 100, 100));
    SHOW_BESIDE(stat_found(edge, (struct stat *)(edge + 512)));
    SHOW_BESIDE(sem_post_found(semaphore));
    SHOW_BESIDE(sem_wait_found(semaphore));
    close(zero);
}

static void handler(int number)
{
    printf("signal %d\n", number);
    fflush(stdout);
    _exit(7);
}

/* A touch beside the copy is nobody's signal, whoever has an action for it or blocks it. */
static void signals(void *libc, char *edge)
{
    FOUND(sigaction_function, libc, sigaction)
    FOUND(mask_function, libc, pthread_sigmask)
    struct sigaction mine = {.sa_handler = handler};
    struct sigaction old;
    sigset_t all;
    SHOW_BESIDE(sigaction_found(SIGSEGV, NULL, &old));
    SHOW(old.sa_handler == SIG_DFL);
    SHOW(sigaction_found(SIGSEGV, &mine, NULL));
    for (int i = 0; i < 2; i++)
        SHOW_BESIDE(edge[5] = 1);
    SHOW(sigaction_found(SIGSEGV, NULL, &old));
    SHOW(old.sa_handler == handler);
    sigfillset(&all);
    SHOW(pthread_sigmask_found(SIG_SETMASK, &all, NULL));
    SHOW_BESIDE(edge[5] = 1);
}

static void answers(void *libc)
{
    errno = 5;
    SHOW(is_of_libc(dlsym(libc, "qsort")));
    SHOW(dlsym(libc, "no_such_function") == NULL);
    SHOW(dlerror() != NULL);
    SHOW(dlvsym(libc, "pthread_cond_wait", GLIBC_FIRST) != dlsym(libc, "pthread_cond_wait"));
    SHOW(dlvsym(libc, "read", "GLIBC_9.9") == NULL);
    SHOW(dlerror() != NULL);
    SHOW(dlvsym(RTLD_DEFAULT, "read", "GLIBC_9.9") == NULL);
    SHOW(dlerror() != NULL);
    SHOW(is_of_libc(dlvsym(RTLD_NEXT, "read", GLIBC_FIRST)));
    SHOW(dlerror() == NULL);
    SHOW(errno);
}

int main(void)
{
    void *libc = open_or_exit("libc.so.6", RTLD_NOW);
    answers(libc);
    void *before_cuda = dlsym(libc, "stat");
    char *edge = edge_start();
    SHOW(dlsym(libc, "stat") == before_cuda);
    data(libc, edge);
    signals(libc, edge);
    return 0;
}
