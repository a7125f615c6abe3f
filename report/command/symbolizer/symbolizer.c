#define _GNU_SOURCE 1
#include "report/command/symbolizer/symbolizer.h"

#include "report/command/progress.h"
#include "report/command/say.h"
#include "report/command/symbolizer/symbol_answer.h"
#include "report/command/symbolizer/symbolizer_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS INT64_C(1000000000)
#define USED_MAX_NS (8 * SECOND_NS)
#define USED_MORE_NS (SECOND_NS / 50) /* for each answer */
#define STILL_MAX_NS (9 * SECOND_NS)
#define LOOK_EVERY_NS (SECOND_NS / 10)

/* Most messages fit into the first; the number of them is that of what is said. */
enum { FIRST_ROOM = 64 * 1024, MESSAGES_MAX = SC_SYMBOLIZER_SAYINGS_MAX + 1 };

struct sc_symbolizer {
    pid_t pid; /* 0: it has ended */
    int fd;
    struct sc_symbolizer_notes *notes;
    const char *path;
    uint64_t taken_bytes;
    char *bytes; /* received: a message at `at`, and what has come behind it */
    size_t at, used, room;
    char *name;          /* that came alone */
    clockid_t clock;     /* of its processor time */
    int64_t used_ns;     /* how much of that it has used, when it was looked at last */
    int64_t used_max_ns; /* how much it may have used */
    int64_t cost_ns;     /* and how long it has stood still besides */
};

/* ---- the process ---- */

/* Maps memory that all children share with this process. NULL: none. */
struct sc_symbolizer_notes *sc_symbolizer_notes_new(void)
{
    void *page = mmap(NULL, sizeof(struct sc_symbolizer_notes), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return page == MAP_FAILED ? NULL : page;
}

void sc_symbolizer_notes_free(struct sc_symbolizer_notes *notes)
{
    if (notes)
        munmap(notes, sizeof *notes);
}

/* Moves the descriptor above the standard three, which this process may have been started
 * without. */
static int move_up(int fd)
{
    if (fd > STDERR_FILENO)
        return fd;
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(fd);
    return moved;
}

/* Makes the connection between this process and the child. The parent looks at the clock when
 * nothing comes for a while. */
static bool make_sockets(int *fds)
{
    const struct timeval look = {0, LOOK_EVERY_NS / 1000};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
        return false;
    for (int i = 0; i < 2; i++)
        fds[i] = move_up(fds[i]);
    if (fds[0] >= 0 && fds[1] >= 0 &&
        setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &look, sizeof look) == 0)
        return true;
    close(fds[0]);
    close(fds[1]);
    return false;
}

/* Starts a child that reads the module: a damaged one may crash or hang whoever reads it. Returns
 * NULL if there is no child. */
struct sc_symbolizer *sc_symbolizer_start(const struct sc_module_sought *sought,
                                          struct sc_symbolizer_notes *notes)
{
    int fds[2];
    pid_t parent = getpid();
    struct sc_symbolizer *symbolizer = malloc(sizeof *symbolizer);
    if (!symbolizer || !make_sockets(fds)) {
        free(symbolizer);
        return NULL;
    }
    signal(SIGCHLD, SIG_DFL); /* an ignored one takes the status of a child away */
    *symbolizer = (struct sc_symbolizer){
        .fd = fds[0], .notes = notes, .path = sought->path, .used_max_ns = USED_MAX_NS};
    symbolizer->pid = fork();
    if (symbolizer->pid == 0)
        sc_symbolizer_child_run(sought, notes, fds[1], parent);
    close(fds[1]);
    if (symbolizer->pid > 0 && clock_getcpuclockid(symbolizer->pid, &symbolizer->clock) == 0)
        return symbolizer;
    sc_symbolizer_end(symbolizer);
    return NULL;
}

/* Waits for the process and returns its status, as wait(2) does. If `has_gone`, the process has
 * closed its socket, and gets a moment to end by itself; it is killed if it does not, or else at
 * once. */
static int reap(struct sc_symbolizer *symbolizer, bool has_gone)
{
    enum { PATIENCE_MS = 200 };
    const struct timespec a_while = {0, 1000000};
    int status = 0, waited_ms = 0;
    pid_t pid = symbolizer->pid;
    symbolizer->pid = 0;
    while (has_gone && pid > 0 && waited_ms++ < PATIENCE_MS) {
        if (waitpid(pid, &status, WNOHANG) == pid)
            return status;
        nanosleep(&a_while, NULL);
    }
    if (pid > 0)
        kill(pid, SIGKILL);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/* Ends the child that reads debug files; NULL does nothing. errno is kept. */
void sc_symbolizer_end(struct sc_symbolizer *symbolizer)
{
    int before = errno;
    if (!symbolizer)
        return;
    reap(symbolizer, false);
    close(symbolizer->fd);
    free(symbolizer->bytes);
    free(symbolizer->name);
    free(symbolizer);
    errno = before;
}

bool sc_symbolizer_has_ended(const struct sc_symbolizer *symbolizer)
{
    return symbolizer->pid == 0;
}

uint64_t sc_symbolizer_taken_bytes(const struct sc_symbolizer *symbolizer)
{
    return symbolizer->taken_bytes;
}

int64_t sc_symbolizer_cost_ns(const struct sc_symbolizer *symbolizer)
{
    return symbolizer->cost_ns;
}

const char *sc_symbolizer_name_alone(const struct sc_symbolizer *symbolizer)
{
    return symbolizer->name;
}

/* ---- its bounds ---- */

static int64_t now_ns(clockid_t clock)
{
    struct timespec now = {0};
    clock_gettime(clock, &now);
    return now.tv_sec * SECOND_NS + now.tv_nsec;
}

/* How one question goes on. */
struct watch {
    struct sc_symbolizer *symbolizer;
    int64_t seen_ns;    /* when it was looked at last; 0: it was not */
    int64_t still_ns;   /* how long the process has used no processor time */
    int messages;       /* how many have come */
    const char *excess; /* the bound that was met; NULL: none */
};

/* Measures how much time and memory the child has used. Most answers come at once, and then this is
 * not called. Time in which this process was itself stopped does not count. */
static void look(struct watch *watch, bool is_asking)
{
    struct sc_symbolizer *symbolizer = watch->symbolizer;
    int64_t used = now_ns(symbolizer->clock), now = now_ns(CLOCK_MONOTONIC);
    int64_t more = used > symbolizer->used_ns ? used - symbolizer->used_ns : 0;
    int64_t passed = watch->seen_ns != 0 ? now - watch->seen_ns : 0;
    int64_t still = passed < 2 * LOOK_EVERY_NS ? passed : 2 * LOOK_EVERY_NS;
    watch->still_ns = more > 0 ? 0 : watch->still_ns + still;
    symbolizer->used_max_ns += is_asking ? more : 0;
    symbolizer->cost_ns += is_asking ? 0 : more > 0 ? more : still;
    symbolizer->used_ns += more;
    if (symbolizer->used_ns > symbolizer->used_max_ns)
        watch->excess = "more than 8 s of processor time";
    watch->seen_ns = now;
}

/* May the child go on? False once a bound is met. */
static bool may_go_on(struct watch *watch)
{
    const struct sc_debuginfod_shared *servers = &watch->symbolizer->notes->servers;
    bool is_asking = servers->is_asking;
    int64_t still_max_ns = STILL_MAX_NS + (is_asking ? sc_debuginfod_time_max_ns() : 0);
    look(watch, is_asking);
    if (is_asking && servers->fetched_bytes > 0)
        sc_progress_show("KB of debug information fetched",
                         (size_t)servers->fetched_bytes / 1024 & ~(size_t)255);
    if (watch->still_ns > still_max_ns)
        watch->excess = "more than 9 s in which nothing happens";
    return !watch->excess;
}

/* Reaps the child and prints why it has ended. Returns whether all names were lost or lines of
 * source alone. */
static enum sc_symbolizer_outcome lose(struct watch *watch)
{
    struct sc_symbolizer *symbolizer = watch->symbolizer;
    bool has_name = symbolizer->notes->stage == SC_READS_LINES;
    const char *what = has_name ? "debug information" : "symbols";
    const char *without = has_name ? "lines of source" : "names";
    int status = reap(symbolizer, !watch->excess);
    if (symbolizer->notes->is_full)
        watch->excess = "more than 256 MB of memory";
    if (watch->excess)
        sc_say("%s: reading its %s takes %s; it is shown without %s", symbolizer->path, what,
               watch->excess, without);
    else
        sc_say("%s: reading its %s has failed (%s); it is shown without %s", symbolizer->path, what,
               WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "the process has ended",
               without);
    return has_name ? SC_SYMBOLIZER_LOST_LINES : SC_SYMBOLIZER_LOST;
}

/* ---- questions ---- */

/* Makes room for `size` bytes where the next message begins. */
static bool make_room(struct sc_symbolizer *symbolizer, size_t size)
{
    size_t room = size > FIRST_ROOM ? size : FIRST_ROOM;
    if (size <= symbolizer->room - symbolizer->at)
        return true;
    symbolizer->used -= symbolizer->at;
    if (symbolizer->used > 0)
        memmove(symbolizer->bytes, symbolizer->bytes + symbolizer->at, symbolizer->used);
    symbolizer->at = 0;
    if (size <= symbolizer->room)
        return true;
    char *grown = realloc(symbolizer->bytes, room);
    if (!grown)
        return false;
    symbolizer->bytes = grown;
    symbolizer->room = room;
    return true;
}

/* Receives until `size` bytes are there, where the next message begins. Returns false if they do
 * not come. */
static bool receive(struct watch *watch, size_t size)
{
    struct sc_symbolizer *symbolizer = watch->symbolizer;
    if (!make_room(symbolizer, size))
        return false;
    while (symbolizer->used - symbolizer->at < size) {
        ssize_t count = recv(symbolizer->fd, symbolizer->bytes + symbolizer->used,
                             symbolizer->room - symbolizer->used, 0);
        bool is_late = count < 0 && (errno == EAGAIN || errno == EINTR);
        if (count == 0 || (count < 0 && !is_late) || (is_late && !may_go_on(watch)))
            return false;
        symbolizer->used += count > 0 ? (size_t)count : 0;
    }
    return true;
}

/* Receives the next message. Returns false if the child has ended, or is to be ended. */
static bool receive_message(struct watch *watch, struct sc_symbolizer_message *message)
{
    struct sc_symbolizer *symbolizer = watch->symbolizer;
    if (!receive(watch, sizeof *message))
        return false;
    memcpy(message, symbolizer->bytes + symbolizer->at, sizeof *message);
    return message->size <= SC_SYMBOL_ANSWER_MAX && receive(watch, sizeof *message + message->size);
}

/* Keeps the name that came before source lines were looked for: it is the answer if the child ends
 * in that. */
static void keep_name(struct sc_symbolizer *symbolizer, const char *bytes, size_t size)
{
    struct sc_symbol_answer answer;
    bool has_name = sc_symbol_answer_take(bytes, size, &answer) && answer.name;
    free(symbolizer->name);
    symbolizer->name = has_name ? strdup(answer.name) : NULL;
}

/* To whom the answers go. */
struct asked {
    const uint64_t *offsets;
    size_t count, answered;
    sc_symbolizer_take *take;
    void *whom;
};

/* Processes one message of the child's. Returns false if it is none. */
static bool take_message(struct watch *watch, const struct sc_symbolizer_message *message,
                         struct asked *asked)
{
    struct sc_symbolizer *symbolizer = watch->symbolizer;
    const char *bytes = symbolizer->bytes + symbolizer->at + sizeof *message;
    struct sc_symbol_answer answer;
    switch (message->kind) {
    case SC_MESSAGE_SAY:
        sc_say("%.*s", (int)message->size, bytes);
        return watch->messages++ < MESSAGES_MAX;
    case SC_MESSAGE_NAME_ALONE:
        keep_name(symbolizer, bytes, message->size);
        return watch->messages++ < MESSAGES_MAX;
    case SC_MESSAGE_ANSWER:
        if (asked->answered == asked->count ||
            !sc_symbol_answer_take(bytes, message->size, &answer))
            return false;
        asked->take(asked->whom, asked->offsets[asked->answered++], bytes, message->size);
        symbolizer->used_max_ns += USED_MORE_NS;
        return true;
    default:
        return false;
    }
}

/* Receives the answers to a question. Returns the kind of the last message; -1 if the process has
 * ended, or has to be ended. */
static int receive_all(struct watch *watch, struct asked *asked)
{
    struct sc_symbolizer *symbolizer = watch->symbolizer;
    struct sc_symbolizer_message message;
    symbolizer->at = symbolizer->used = 0;
    while (receive_message(watch, &message)) {
        symbolizer->taken_bytes = message.taken_bytes;
        if (message.kind == SC_MESSAGE_DONE || message.kind == SC_MESSAGE_NOTHING)
            return (int)message.kind;
        if (!take_message(watch, &message, asked))
            break;
        symbolizer->at += sizeof message + message.size;
    }
    return -1;
}

/* Sends the child the addresses that it is asked about. */
static void begin_question(struct sc_symbolizer *symbolizer, const struct asked *asked,
                           bool with_lines)
{
    struct sc_symbolizer_question question = {(uint32_t)asked->count, with_lines, {0}};
    memcpy(question.offsets, asked->offsets, asked->count * sizeof question.offsets[0]);
    symbolizer->notes->stage = SC_READS_NAMES;
    symbolizer->notes->is_full = symbolizer->notes->servers.is_asking = false;
    free(symbolizer->name);
    symbolizer->name = NULL;
    (void)!send(symbolizer->fd, &question, sizeof question, MSG_NOSIGNAL);
}

/* Asks the child about addresses, and hands each answer to `take`. A child that takes too long is
 * lost. */
enum sc_symbolizer_outcome sc_symbolizer_ask(struct sc_symbolizer *symbolizer,
                                             const uint64_t *offsets, size_t count, bool with_lines,
                                             sc_symbolizer_take *take, void *whom)
{
    struct watch watch = {.symbolizer = symbolizer};
    struct asked asked = {offsets, count, 0, take, whom};
    begin_question(symbolizer, &asked, with_lines);
    int last = receive_all(&watch, &asked);
    look(&watch, false);
    if (last == SC_MESSAGE_NOTHING)
        return SC_SYMBOLIZER_KNOWS_NOTHING;
    if (last != SC_MESSAGE_DONE || asked.answered == 0 || watch.excess)
        return lose(&watch);
    return SC_SYMBOLIZER_ANSWERED;
}
