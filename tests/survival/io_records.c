// expect-exit: 0
//
// Records of all kinds that the kernel reads or fills, on a page with the target of a copy in
// flight.
#include "in_flight.h"

#include <fcntl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>

struct edge {
    union {
        struct {
            struct sockaddr_in address;
            socklen_t size;
            int option, ends[2];
            struct epoll_event event;
            eventfd_t counter;
        };
        struct {
            struct timespec time, left;
            struct itimerval timer, timer_before;
            struct itimerspec exact, exact_before;
            struct timeval day;
            timer_t name;
        };
        struct {
            struct utsname names;
            struct sysinfo system;
            struct tms times;
        };
        struct {
            struct rusage usage;
            struct rlimit limit;
            cpu_set_t cpus;
            struct sched_param priority;
            gid_t groups[64];
            uid_t users[3];
            unsigned char resident[4];
            int status;
            siginfo_t info;
        };
        struct {
            struct {
                long type;
                char text[32];
            } message;
            struct sembuf operation;
            struct msqid_ds queue;
            struct shmid_ds segment;
            unsigned mq_priority;
            char mq_text[64];
        };
        struct {
            struct flock lock;
            struct f_owner_ex owner;
            struct winsize window;
            int count;
            off_t from, to;
            sigset_t mask;
        };
    };
};

static struct edge *edge;

static struct edge *clean(void)
{
    memset(edge, 0, sizeof *edge);
    return edge;
}

/* Closes what it was given: descriptors have numbers that may differ. */
static bool opens(int fd)
{
    bool opened = fd >= 0;
    if (opened)
        close(fd);
    return opened;
}

static void sockets(void)
{
    int server = socket(AF_INET, SOCK_STREAM, 0);
    int client = socket(AF_INET, SOCK_STREAM, 0);
    clean()->address =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    edge->option = 1;
    SHOW_BESIDE(setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &edge->option, sizeof edge->option));
    SHOW_BESIDE(bind(server, (struct sockaddr *)&edge->address, sizeof edge->address));
    CHECK(listen(server, 1));
    edge->size = sizeof edge->address;
    SHOW_BESIDE(getsockname(server, (struct sockaddr *)&edge->address, &edge->size));
    SHOW_BESIDE(connect(client, (struct sockaddr *)&edge->address, sizeof edge->address));
    SHOW_BESIDE(getpeername(client, (struct sockaddr *)&edge->address, &edge->size));
    SHOW_BESIDE(opens(accept(server, (struct sockaddr *)&edge->address, &edge->size)));
    close(client);
    client = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(getsockname(server, (struct sockaddr *)&edge->address, &edge->size));
    CHECK(connect(client, (struct sockaddr *)&edge->address, sizeof edge->address));
    SHOW_BESIDE(opens(accept4(server, (struct sockaddr *)&edge->address, &edge->size, 0)));
    edge->size = sizeof edge->option;
    SHOW_BESIDE(getsockopt(server, SOL_SOCKET, SO_TYPE, &edge->option, &edge->size));
    SHOW(edge->option == SOCK_STREAM && edge->size == sizeof edge->option);
    SHOW_BESIDE(socketpair(AF_UNIX, SOCK_STREAM, 0, edge->ends));
    SHOW(opens(edge->ends[0]) && opens(edge->ends[1]));
    close(server);
    close(client);
}

static void descriptors(int fd)
{
    clean();
    SHOW_BESIDE(pipe(edge->ends));
    int set = epoll_create1(0);
    edge->event = (struct epoll_event){.events = EPOLLOUT};
    SHOW_BESIDE(epoll_ctl(set, EPOLL_CTL_ADD, edge->ends[1], &edge->event));
    SHOW(opens(edge->ends[0]) && opens(edge->ends[1]));
    SHOW_BESIDE(pipe2(edge->ends, O_NONBLOCK));
    SHOW(opens(edge->ends[0]) && opens(edge->ends[1]));
    close(set);
    int counter = eventfd(5, 0);
    SHOW_BESIDE(eventfd_read(counter, &edge->counter));
    SHOW(edge->counter);
    close(counter);
    clean()->lock = (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 10};
    SHOW_BESIDE(fcntl(fd, F_SETLK, &edge->lock));
    SHOW_BESIDE(fcntl(fd, F_GETLK, &edge->lock));
    SHOW(edge->lock.l_type == F_UNLCK);
    SHOW_BESIDE(fcntl(fd, F_GETOWN_EX, &edge->owner));
    SHOW_BESIDE(opens(fcntl(fd, F_DUPFD_CLOEXEC, 3)));
    SHOW_BESIDE(ioctl(fd, FIONREAD, &edge->count));
    SHOW(edge->count);
    SHOW_BESIDE(ioctl(fd, TIOCGWINSZ, &edge->window) == -1 && errno == ENOTTY);
    sigemptyset(&edge->mask);
    SHOW_BESIDE(opens(signalfd(-1, &edge->mask, 0)));
    int other = memfd_create("other", 0);
    edge->from = 2;
    SHOW_BESIDE(sendfile(other, fd, &edge->from, 5));
    SHOW(edge->from);
    SHOW_BESIDE(copy_file_range(fd, &edge->from, other, &edge->to, 5, 0));
    SHOW(edge->to);
    close(other);
}

static void clocks(void)
{
    clean();
    SHOW_BESIDE(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &edge->time));
    SHOW_BESIDE(clock_gettime(CLOCK_MONOTONIC, &edge->time));
    SHOW_BESIDE(clock_getres(CLOCK_PROCESS_CPUTIME_ID, &edge->time));
    SHOW_BESIDE(gettimeofday(&edge->day, NULL));
    edge->time = (struct timespec){0, 1000};
    SHOW_BESIDE(nanosleep(&edge->time, &edge->left));
    SHOW_BESIDE(clock_nanosleep(CLOCK_MONOTONIC, 0, &edge->time, &edge->left));
    edge->timer.it_value.tv_sec = 1000;
    SHOW_BESIDE(setitimer(ITIMER_REAL, &edge->timer, &edge->timer_before));
    SHOW_BESIDE(getitimer(ITIMER_REAL, &edge->timer_before));
    SHOW(edge->timer_before.it_value.tv_sec > 900);
    memset(&edge->timer, 0, sizeof edge->timer);
    SHOW_BESIDE(setitimer(ITIMER_REAL, &edge->timer, NULL));
    SHOW_BESIDE(timer_create(CLOCK_MONOTONIC, NULL, &edge->name));
    edge->exact.it_value.tv_sec = 1000;
    SHOW_BESIDE(timer_settime(edge->name, 0, &edge->exact, &edge->exact_before));
    SHOW_BESIDE(timer_gettime(edge->name, &edge->exact_before));
    SHOW(edge->exact_before.it_value.tv_sec > 900);
    SHOW(timer_delete(edge->name));
    int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    SHOW_BESIDE(timerfd_settime(timer, 0, &edge->exact, &edge->exact_before));
    SHOW_BESIDE(timerfd_gettime(timer, &edge->exact_before));
    SHOW(edge->exact_before.it_value.tv_sec > 900);
    close(timer);
}

static int child(void)
{
    pid_t process = fork();
    if (process == 0)
        _exit(5);
    return process;
}

static void process(void)
{
    clean();
    SHOW_BESIDE(uname(&edge->names));
    SHOW(strcmp(edge->names.sysname, "Linux"));
    SHOW_BESIDE(sysinfo(&edge->system));
    SHOW_BESIDE(times(&edge->times) != (clock_t)-1);
    clean();
    SHOW_BESIDE(getrusage(RUSAGE_SELF, &edge->usage));
    SHOW_BESIDE(getrlimit(RLIMIT_NOFILE, &edge->limit));
    SHOW_BESIDE(setrlimit(RLIMIT_NOFILE, &edge->limit));
    SHOW_BESIDE(prlimit(0, RLIMIT_NOFILE, NULL, &edge->limit));
    SHOW_BESIDE(getgroups(64, edge->groups) >= 0);
    SHOW_BESIDE(getresuid(&edge->users[0], &edge->users[1], &edge->users[2]));
    SHOW_BESIDE(mincore(beside.block, 4096, edge->resident));
    SHOW_BESIDE(sched_getaffinity(0, sizeof edge->cpus, &edge->cpus));
    SHOW_BESIDE(sched_setaffinity(0, sizeof edge->cpus, &edge->cpus));
    SHOW_BESIDE(pthread_getaffinity_np(pthread_self(), sizeof edge->cpus, &edge->cpus));
    SHOW(CPU_COUNT(&edge->cpus) > 0);
    SHOW_BESIDE(sched_getparam(0, &edge->priority));
    SHOW_BESIDE(sched_setparam(0, &edge->priority));
}

/* The child is forked before the copy goes in flight. */
#define SHOW_WAIT(call)                                                                            \
    do {                                                                                           \
        child();                                                                                   \
        SHOW_BESIDE(call);                                                                         \
    } while (0)

static void waits(void)
{
    clean();
    SHOW_WAIT(wait(&edge->status) > 0);
    SHOW(WEXITSTATUS(edge->status));
    SHOW_WAIT(waitpid(-1, &edge->status, 0) > 0);
    SHOW_WAIT(wait4(-1, &edge->status, 0, &edge->usage) > 0);
    SHOW_WAIT(waitid(P_ALL, 0, &edge->info, WEXITED));
    SHOW(edge->info.si_status);
}

static void messages(void)
{
    struct mq_attr attributes = {.mq_maxmsg = 2, .mq_msgsize = sizeof edge->mq_text};
    char name[64];
    int queue = msgget(IPC_PRIVATE, 0600);
    int semaphores = semget(IPC_PRIVATE, 1, 0600);
    int segment = shmget(IPC_PRIVATE, 4096, 0600);
    clean()->message.type = 7;
    SHOW_BESIDE(msgsnd(queue, &edge->message, sizeof edge->message.text, 0));
    SHOW_BESIDE(msgrcv(queue, &edge->message, sizeof edge->message.text, 0, 0));
    SHOW_BESIDE(msgctl(queue, IPC_STAT, &edge->queue));
    SHOW(msgctl(queue, IPC_RMID, NULL));
    edge->operation.sem_op = 1;
    SHOW_BESIDE(semop(semaphores, &edge->operation, 1));
    SHOW_BESIDE(semctl(semaphores, 0, GETVAL));
    SHOW(semctl(semaphores, 0, IPC_RMID));
    SHOW_BESIDE(shmctl(segment, IPC_STAT, &edge->segment));
    SHOW(edge->segment.shm_segsz);
    SHOW(shmctl(segment, IPC_RMID, NULL));
    snprintf(name, sizeof name, "/safecopy-io-records-%d", getpid());
    mqd_t posix = mq_open(name, O_RDWR | O_CREAT, 0600, &attributes);
    CHECK(posix == (mqd_t)-1);
    CHECK(mq_unlink(name));
    SHOW_BESIDE(mq_send(posix, edge->mq_text, sizeof edge->mq_text, 3));
    SHOW_BESIDE(mq_receive(posix, edge->mq_text, sizeof edge->mq_text, &edge->mq_priority));
    SHOW(edge->mq_priority);
    CHECK(mq_close(posix));
}

int main(void)
{
    edge = (struct edge *)edge_start();
    _Static_assert(sizeof *edge <= EDGE, "lies beside the buffer");
    int fd = memfd_create("beside", 0);
    CHECK(write(fd, "some bytes to be counted", 20) - 20);
    CHECK(lseek(fd, 0, SEEK_SET));
    sockets();
    descriptors(fd);
    clocks();
    process();
    waits();
    messages();
    return 0;
}
