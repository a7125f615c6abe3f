// expect-exit: 0
//
// A program that was built for an older glibc asks whether the functions of a newer one are there.
// The library has hooks of that name, which must not make it believe so. (process_madvise, which is
// the system call and nothing else, works there all the same.)
#include "lookup.h"

static const char *const names[] = {
    "pthread_cond_clockwait",
    "pthread_mutex_clocklock",
    "pthread_rwlock_clockrdlock",
    "sem_clockwait",
    "stat",
    "fstatat64",
    "mknod",
    "execveat",
    "epoll_pwait2",
    "arc4random_buf",
    "getdents64",
    "_Fork",
};

int main(void)
{
    void *program = dlopen(NULL, RTLD_NOW);
    dlerror();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        printf("%s: %d", names[i], dlsym(RTLD_DEFAULT, names[i]) != NULL);
        printf(" %d", dlerror() == NULL);
        printf(" %d", dlsym(program, names[i]) != NULL);
        printf(" %d\n", dlerror() == NULL);
    }
    use_cuda("program");
    return 0;
}
