// expect-exit: 0
// timeout: 60
//
// Signals of children: what is inherited by fork, by threads and by programs, what a child of vfork
// does to its own and not to its parent's, what posix_spawn is asked for, and forks while another
// thread changes actions.
#include "process.h"
#include "signals.h"

#include <spawn.h>
#include <stdatomic.h>
#include <threads.h>

extern char **environ;

static atomic_bool stop;

static void note(int number)
{
    (void)number;
}

static void show_all(const char *who)
{
    struct sigaction fault, user;
    CHECK(sigaction(SIGSEGV, NULL, &fault));
    CHECK(sigaction(SIGUSR1, NULL, &user));
    printf("%s: mask %lx, SIGSEGV %s %lx, SIGUSR1 %s %lx\n", who, mask_now(),
           fault.sa_handler == note      ? "note"
           : fault.sa_handler == SIG_IGN ? "ignored"
                                         : "default",
           bits_of(&fault.sa_mask),
           user.sa_handler == note      ? "note"
           : user.sa_handler == SIG_IGN ? "ignored"
                                        : "default",
           bits_of(&user.sa_mask));
}

static void show_forked(void)
{
    show_all("forked");
    handle(SIGSEGV, SIG_IGN, 0, only(0));
    set_mask(only(0));
    show_all("forked, changed");
}

static void spawn(const char *who, const posix_spawnattr_t *attributes)
{
    char name[] = "signal_children";
    char show[] = "show";
    char *arguments[] = {name, show, NULL};
    pid_t child = 0;
    fflush(stdout);
    CHECK(posix_spawn(&child, "/proc/self/exe", NULL, attributes, arguments, environ));
    show_end(who, child);
}

static void spawn_with(const char *who, short flags, sigset_t mask, sigset_t defaults)
{
    posix_spawnattr_t attributes;
    CHECK(posix_spawnattr_init(&attributes));
    CHECK(posix_spawnattr_setflags(&attributes, flags));
    CHECK(posix_spawnattr_setsigmask(&attributes, &mask));
    CHECK(posix_spawnattr_setsigdefault(&attributes, &defaults));
    spawn(who, &attributes);
    CHECK(posix_spawnattr_destroy(&attributes));
}

/* As programs do that start others by hand: the child cleans up its signals. */
static void vfork_and(bool executes)
{
    fflush(stdout);
    pid_t child = vfork();
    if (child == 0) {
        sigset_t all = every();
        sigset_t fault = only(SIGSEGV);
        struct sigaction action;
        memset(&action, 0, sizeof action);
        action.sa_handler = SIG_DFL;
        sigaction(SIGSEGV, &action, NULL);
        sigaction(SIGUSR1, &action, NULL);
        signal(SIGUSR2, SIG_IGN);
        sigprocmask(SIG_UNBLOCK, &all, NULL);
        sigprocmask(SIG_BLOCK, &fault, NULL);
        sigprocmask(SIG_UNBLOCK, &fault, NULL);
        if (executes)
            execl("/proc/self/exe", "signal_children", "show", (char *)NULL);
        _exit(4);
    }
    show_end("vforked", child);
    show_all("its parent");
}

static void *show_thread(void *who)
{
    show_all(who);
    touch_beside(who);
    return NULL;
}

static void in_thread(const char *who, const sigset_t *mask)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t read;
    char name[64];
    snprintf(name, sizeof name, "%s", who);
    CHECK(pthread_attr_init(&attributes));
    if (mask) {
        CHECK(pthread_attr_setsigmask_np(&attributes, mask));
        CHECK(pthread_attr_getsigmask_np(&attributes, &read));
        printf("attribute %lx\n", bits_of(&read));
    }
    CHECK(pthread_create(&thread, &attributes, show_thread, name));
    CHECK(pthread_join(thread, NULL));
    CHECK(pthread_attr_destroy(&attributes));
}

static int show_c11_thread(void *who)
{
    show_thread(who);
    return 5;
}

static void in_c11_thread(void)
{
    char name[] = "C11 thread";
    thrd_t thread;
    int result = 0;
    CHECK(thrd_create(&thread, show_c11_thread, name) != thrd_success);
    CHECK(thrd_join(thread, &result) != thrd_success);
    printf("%s: %d\n", name, result);
}

static void with_masks(sigset_t own)
{
    sigset_t none = only(0);
    sigset_t fault = only(SIGSEGV);
    sigset_t all = every();
    sigset_t both = only(SIGSEGV);
    sigaddset(&both, SIGUSR1);
    set_mask(own);
    printf("-- mask %lx\n", mask_now());
    in_c11_thread();
    in_thread("thread", NULL);
    in_thread("thread without", &none);
    in_thread("thread with", &fault);
    in_thread("thread with all", &all);
    in_child("forked", show_forked, 5, false);
    spawn("spawned", NULL);
    spawn_with("spawned without", POSIX_SPAWN_SETSIGMASK, none, both);
    spawn_with("spawned with", POSIX_SPAWN_SETSIGMASK, fault, both);
    spawn_with("spawned by default", POSIX_SPAWN_SETSIGDEF, none, both);
    spawn_with("spawned with both", POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK, fault, both);
    vfork_and(false);
    vfork_and(true);
    show_all("at last");
    set_mask(none);
}

static void *change_actions(void *unused)
{
    (void)unused;
    while (!atomic_load(&stop)) {
        handle(SIGUSR2, note, 0, only(SIGSEGV));
        handle(SIGSEGV, note, 0, only(0));
    }
    return NULL;
}

static void change_once(void)
{
    alarm(120);
    handle(SIGUSR2, SIG_IGN, 0, only(0));
    handle(SIGSEGV, SIG_IGN, 0, only(0));
}

/* Whatever the other thread is in the midst of is nobody's business in the child. */
static void fork_beside_changes(void)
{
    pthread_t threads[2];
    int wrong = 0;
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, change_actions, NULL));
    for (int i = 0; i < 300; i++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            change_once();
            _exit(0);
        }
        if (waitpid(child, &status, 0) != child || status != 0)
            wrong++;
    }
    atomic_store(&stop, true);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL));
    printf("children that did not end: %d\n", wrong);
}

int main(int count, char **arguments)
{
    (void)arguments;
    if (count > 1) {
        show_all("program");
        return 6;
    }
    edge_start();
    touch_beside("guarded");
    with_masks(only(0));
    handle(SIGSEGV, note, 0, only(SIGUSR2));
    handle(SIGUSR1, note, 0, only(SIGSEGV));
    with_masks(only(SIGSEGV));
    handle(SIGUSR1, SIG_IGN, 0, only(0));
    with_masks(only(SIGUSR1));
    with_masks(every());
    fork_beside_changes();
    touch_beside("last");
    return 0;
}
