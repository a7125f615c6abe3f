// expect-exit: 0
//
// Functions of libc that programs rarely call, and what they hand to the kernel on a page with the
// target of a copy in flight.
#include "in_flight.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <mqueue.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/fanotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <threads.h>

int capget(struct __user_cap_header_struct *header, struct __user_cap_data_struct *into);
int capset(struct __user_cap_header_struct *header, const struct __user_cap_data_struct *from);

struct edge {
    char path[64], at[16];
    union {
        struct {
            char names[1024];
            off64_t position;
        };
        struct {
            struct file_handle handle;
            char room[MAX_HANDLE_SZ];
            int mount;
        };
        struct {
            struct timespec time, left;
            struct timeval times[2];
            struct sched_param priority;
            struct epoll_event event;
            sigset_t mask;
        };
        struct {
            struct __user_cap_header_struct header;
            struct __user_cap_data_struct sets[2];
            gid_t groups[64];
        };
        struct {
            struct user_regs_struct registers;
            struct iovec piece;
            siginfo_t info;
            unsigned long message;
        };
        struct {
            struct mq_attr attributes;
            struct sigevent event_of_queue;
        };
        struct timex clock;
        char *words[2];
    };
};

static struct edge *edge;

/* Before each: memory that was touched is guarded for no copy until the next. */
static void clean(void)
{
    memset(edge->names, 0, sizeof *edge - offsetof(struct edge, names));
}

static bool opens(int fd)
{
    bool opened = fd >= 0;
    if (opened)
        close(fd);
    return opened;
}

static void files(void)
{
    int folder = open("/", O_RDONLY | O_DIRECTORY);
    SHOW_BESIDE(mknod(edge->path, S_IFIFO | 0600, 0));
    SHOW_BESIDE(lchmod(edge->path, 0640));
    SHOW_BESIDE(ftok(edge->path, 1) != -1);
    SHOW_BESIDE(futimesat(AT_FDCWD, edge->path, NULL));
    SHOW(unlink(edge->path));
    SHOW_BESIDE(mknodat(AT_FDCWD, edge->path, S_IFIFO | 0600, 0));
    SHOW(unlink(edge->path));
    SHOW_BESIDE(getdirentries(folder, edge->names, sizeof edge->names, &edge->position) > 0);
    SHOW_BESIDE(getdirentries64(folder, edge->names, sizeof edge->names, &edge->position) >= 0);
    clean();
    edge->handle.handle_bytes = MAX_HANDLE_SZ;
    SHOW_BESIDE(name_to_handle_at(AT_FDCWD, edge->at, &edge->handle, &edge->mount, 0));
    SHOW_BESIDE(opens(open_by_handle_at(AT_FDCWD, &edge->handle, O_PATH)));
    SHOW_BESIDE(fanotify_mark(-1, FAN_MARK_ADD, FAN_OPEN, AT_FDCWD, edge->at));
    close(folder);
}

static void times_and_threads(void)
{
    int set = epoll_create1(0);
    clean();
    edge->time = (struct timespec){0, 1000};
    SHOW_BESIDE(thrd_sleep(&edge->time, &edge->left));
    edge->time = (struct timespec){0, 1000};
    SHOW_BESIDE(epoll_pwait2(set, &edge->event, 1, &edge->time, &edge->mask));
    SHOW_BESIDE(pthread_setschedparam(pthread_self(), SCHED_OTHER, &edge->priority));
    SHOW_BESIDE(clock_settime(CLOCK_MONOTONIC, &edge->time));
    SHOW_BESIDE(mlock2(edge, 100, 0));
    SHOW_BESIDE(munlock(edge, 100));
    clean();
    SHOW_BESIDE(adjtimex(&edge->clock) >= 0);
    SHOW_BESIDE(ntp_adjtime(&edge->clock) >= 0);
    SHOW_BESIDE(clock_adjtime(CLOCK_REALTIME, &edge->clock) >= 0);
    SHOW(edge->clock.tick > 0);
    close(set);
}

static void rights(void)
{
    clean();
    edge->header = (struct __user_cap_header_struct){_LINUX_CAPABILITY_VERSION_3, 0};
    SHOW_BESIDE(capget(&edge->header, edge->sets));
    SHOW_BESIDE(capset(&edge->header, edge->sets));
    int groups = getgroups(64, edge->groups);
    SHOW_BESIDE(setgroups(groups, edge->groups));
}

static void tracing(void)
{
    pid_t child = fork();
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0) /* not under qemu-user */
            raise(SIGSTOP);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    clean();
#ifdef __x86_64__ /* others have the sets alone */
    SHOW_BESIDE(ptrace(PTRACE_GETREGS, child, NULL, &edge->registers));
    SHOW_BESIDE(ptrace(PTRACE_SETREGS, child, NULL, &edge->registers));
#endif
    edge->piece = (struct iovec){&edge->registers, sizeof edge->registers};
    SHOW_BESIDE(ptrace(PTRACE_GETREGSET, child, (void *)1 /* NT_PRSTATUS */, &edge->piece));
    SHOW(edge->piece.iov_len == sizeof edge->registers);
    SHOW_BESIDE(ptrace(PTRACE_SETREGSET, child, (void *)1, &edge->piece));
    SHOW_BESIDE(ptrace(PTRACE_GETSIGINFO, child, NULL, &edge->info));
    SHOW(edge->info.si_signo == SIGSTOP);
    SHOW_BESIDE(ptrace(PTRACE_GETEVENTMSG, child, NULL, &edge->message));
    SHOW(ptrace(PTRACE_CONT, child, NULL, NULL));
    waitpid(child, NULL, 0);
}

static void queues(void)
{
    clean();
    snprintf(edge->path, sizeof edge->path, "/survival-%d", (int)getpid());
    edge->attributes = (struct mq_attr){.mq_maxmsg = 1, .mq_msgsize = 8};
    edge->event_of_queue.sigev_notify = SIGEV_NONE;
    SHOW_BESIDE(opens(mq_open(edge->path, O_RDWR | O_CREAT, 0600, &edge->attributes)));
    mqd_t queue = mq_open(edge->path, O_RDWR);
    SHOW_BESIDE(mq_notify(queue, &edge->event_of_queue));
    SHOW_BESIDE(mq_unlink(edge->path));
    mq_close(queue);
}

static void programs(void)
{
    clean();
    strcpy(edge->path, "/bin/true");
    edge->words[0] = edge->path;
    hold();
    pid_t child = fork();
    if (child == 0) {
        execveat(AT_FDCWD, edge->path, edge->words, environ, 0);
        _exit(errno);
    }
    int status = -1;
    waitpid(child, &status, 0);
    release();
    SHOW(status);
}

int main(void)
{
    edge = edge_start();
    snprintf(edge->path, sizeof edge->path, "/tmp/survival.%d.pipe", (int)getpid());
    strcpy(edge->at, "/tmp");
    files();
    times_and_threads();
    rights();
    tracing();
    queues();
    programs();
    return 0;
}
