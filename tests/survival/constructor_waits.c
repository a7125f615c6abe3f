// expect-exit: 0
// link: cuda
//
// A constructor, which has the loader's lock, wants the driver while another thread reaches for it
// the first time, or waits for another thread that calls functions of the C library, some of them
// for the first time. Nobody waits for somebody who waits for him.
#include "lookup.h"

#include "tests/patience.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { TIME_MAX_S = 120, SLEEPS = 5, PAGE = 4096 };

static sem_t constructing;
static atomic_bool finished; /* what main does meanwhile */
static void (*in_constructor)(void);
static void *driver;

/* ---- the constructor's side ---- */

/* Until main waits for a lock, or has needed none. */
static void wait_for_main(void)
{
    for (int asleep = 0; asleep < SLEEPS && !finished; usleep(2000))
        asleep = thread_state(getpid()) == 'S' ? asleep + 1 : 0;
}

static void look_up(void)
{
    wait_for_main();
    CHECK(dlsym(driver, "cuInit") == NULL);
}

static void call(void)
{
    wait_for_main();
    CHECK(cuMemFree_v2(0) != CUDA_ERROR_NOT_INITIALIZED);
}

static void wait_for_the_end(void)
{
    while (!finished)
        usleep(2000);
}

static void construct(void)
{
    sem_post(&constructing);
    in_constructor();
}

/* The library lies beside the program's folder's other libraries, where its run path leads. */
static void *load(void *argument)
{
    open_or_exit("libconstructor.so", RTLD_NOW);
    return argument;
}

/* ---- main's side ---- */

static void reach_for_driver(void)
{
    CHECK(cuMemFree_v2(0) != CUDA_ERROR_NOT_INITIALIZED);
}

static void *nothing(void *argument)
{
    return argument;
}

static void change_masks(void)
{
    sigset_t none;
    stack_t stack;
    struct sigaction action;
    struct timespec now = {0, 0};
    sigemptyset(&none);
    CHECK(sigaction(SIGUSR1, NULL, &action));
    CHECK(signal(SIGUSR1, SIG_IGN) == SIG_ERR);
    CHECK(sigprocmask(SIG_BLOCK, &none, NULL));
    CHECK(pthread_sigmask(SIG_BLOCK, &none, NULL));
    CHECK(sigaltstack(NULL, &stack));
    CHECK(ppoll(NULL, 0, &now, &none));
    CHECK(pselect(0, NULL, NULL, NULL, &now, &none));
}

static void change_mappings(void)
{
    char *page = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(page == MAP_FAILED);
    CHECK(mprotect(page, PAGE, PROT_READ | PROT_WRITE));
    CHECK(pkey_mprotect(page, PAGE, PROT_READ, -1));
    page = mremap(page, PAGE, 2 * PAGE, MREMAP_MAYMOVE);
    CHECK(page == MAP_FAILED);
    CHECK(munmap(page, 2 * PAGE));
}

static void sleep_and_wake(void)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
    pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
    struct timespec past = {0, 0};
    sem_t semaphore;
    CHECK(pthread_mutex_timedlock(&mutex, &past));
    CHECK(pthread_cond_timedwait(&cond, &mutex, &past) != ETIMEDOUT);
    CHECK(pthread_cond_signal(&cond));
    CHECK(pthread_mutex_unlock(&mutex));
    CHECK(pthread_rwlock_timedrdlock(&rwlock, &past));
    CHECK(pthread_rwlock_trywrlock(&rwlock) != EBUSY);
    CHECK(sem_init(&semaphore, 0, 1));
    CHECK(sem_timedwait(&semaphore, &past));
    CHECK(sem_timedwait(&semaphore, &past) != -1);
}

static void ask_the_kernel(void)
{
    struct stat file;
    struct timespec now;
    CHECK(stat("/", &file));
    CHECK(access("/", R_OK));
    CHECK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now));
    CHECK(fcntl(0, F_GETFD) == -1 && errno != EBADF);
    CHECK(syscall(SYS_futex, &file, FUTEX_WAKE, 1, NULL, NULL, 0));
}

static void use_libc(void)
{
    pthread_t thread;
    pid_t child;
    char name[] = "true";
    char *arguments[] = {name, NULL};
    change_masks();
    change_mappings();
    sleep_and_wake();
    ask_the_kernel();
    CHECK(pthread_create(&thread, NULL, nothing, NULL));
    CHECK(pthread_join(thread, NULL));
    CHECK(posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environ));
    CHECK(waitpid(child, NULL, 0) != child);
}

static void end_at_once(void)
{
    _exit(7);
}

/* As a runtime does that looks up all that it will call (SBCL). */
static void use_libc_by_name(void)
{
    use_libc();
}

static void look_up_threads(void)
{
    CHECK(dlsym(dlopen(NULL, RTLD_NOW), "pthread_create") == NULL);
}

/* ---- */

static void meet(void (*constructor)(void), void (*meanwhile)(void))
{
    pthread_t thread;
    if (meanwhile == use_libc_by_name)
        look_up_threads();
    in_constructor = constructor;
    CHECK(sem_init(&constructing, 0, 0));
    CHECK(pthread_create(&thread, NULL, load, NULL));
    CHECK(sem_wait(&constructing));
    meanwhile();
    finished = true;
    CHECK(pthread_join(thread, NULL));
}

/* In a process of its own, where all is the first time, and which a deadlock ends. */
static void show(const char *what, void (*constructor)(void), void (*meanwhile)(void))
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(TIME_MAX_S);
        meet(constructor, meanwhile);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) != child);
    printf("%s: signal %d, exit %d\n", what, WTERMSIG(status), WEXITSTATUS(status));
}

int main(void)
{
    char address[32];
    snprintf(address, sizeof address, "%p", (void *)construct);
    setenv("SC_CONSTRUCT", address, 1);
    driver = open_or_exit("libcuda.so.1", RTLD_NOW);
    show("a look-up meets a call", look_up, reach_for_driver);
    show("a call meets a call", call, reach_for_driver);
    show("a constructor waits for the C library", wait_for_the_end, use_libc);
    show("a constructor waits for it, and threads were looked up", wait_for_the_end,
         use_libc_by_name);
    show("a constructor waits for the end", wait_for_the_end, end_at_once);
    return 0;
}
