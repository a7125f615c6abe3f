/* correct_programs: threads that make no mistake, chosen at random, for as long as asked.
 *
 *     correct_programs [SECONDS [SEED [THREADS [STEP...]]]]
 *
 * Each thread owns some slots: bytes of pinned, registered or pageable memory that share their
 * pages with other threads' slots, and as many on the device. It copies, fills, waits, writes,
 * forks and launches graphs as stress.h lists, always after what it has to wait for, and knows what
 * each byte has to be. Wrong bytes, a call that fails, a signal and a thread that makes no step any
 * more end the process with a line that says where, and one that says how to run it again. The
 * choice follows from SEED and the number of the thread; how the threads meet does not. Named steps
 * are the only ones that are made, to find out what a failure needs.
 *
 * Runs on the simulated GPU and on a real one, with and without the library, which has nothing to
 * report here: tests/run.py and tests/gpu/run.py look for that (suite stress).
 */
#include "children.h"

enum { STALL_TICKS = 1200, TICK_US = 100000 };

const char *repeat_line;
uint64_t seed = 1;

static struct worker workers[THREADS_MAX];
static unsigned worker_count = 6;
static atomic_bool over;
static char repeat_text[1024];

static struct step {
    const char *name;
    void (*make)(void);
    unsigned weight;
} steps[] = {
    {"copy up", step_copy_up, 8},
    {"copy down", step_copy_down, 10},
    {"round trip", step_round_trip, 6},
    {"device copy", step_device_copy, 3},
    {"memset", step_memset, 5},
    {"rectangle", step_rectangle, 6},
    {"batch", step_batch, 3},
    {"synchronous", step_synchronous, 3},
    {"stream memory", step_stream_memory, 2},
    {"host function", step_host_function, 5},
    {"wait", step_wait, 6},
    {"renew lane", step_renew_lane, 1},
    {"rewrite", step_rewrite, 8},
    {"read", step_read, 6},
    {"read gaps", step_read_gaps, 4},
    {"beside", step_beside, 12},
    {"hot page", step_hot_page, 6},
    {"pipe", step_pipe, 5},
    {"heap", step_heap, 2},
    {"errors", step_errors, 1},
    {"graph", step_graph, 6},
    {"block", step_block, 3},
    {"pages beside", step_pages_beside, 2},
    {"hand", step_hand, 6},
    {"take", step_take, 4},
    {"thread", step_thread, 1},
    {"cancel", step_cancel, 1},
    {"jump", step_jump, 1},
    {"fork", step_fork, 1},
    {"spawn", step_spawn, 1},
};

enum { STEPS = sizeof steps / sizeof *steps };

static const struct step *any_step(void)
{
    unsigned sum = 0;

    for (unsigned i = 0; i < STEPS; i++)
        sum += steps[i].weight;
    size_t left = below(sum);
    for (unsigned i = 0; i < STEPS; i++) {
        if (left < steps[i].weight)
            return &steps[i];
        left -= steps[i].weight;
    }
    return NULL;
}

/* Only those that are named behind the number of threads. False if one is unknown. */
static bool choose_steps(char **arguments)
{
    unsigned weights[STEPS] = {0};

    for (char **name = arguments + 4; *name; name++) {
        unsigned found = 0;
        while (found < STEPS && strcmp(steps[found].name, *name) != 0)
            found++;
        if (found == STEPS)
            return false;
        weights[found] = steps[found].weight;
    }
    for (unsigned i = 0; i < STEPS; i++)
        steps[i].weight = weights[i];
    return true;
}

static void end_worker(void)
{
    end_beats();
    for (unsigned i = 0; i < GRAPHS; i++)
        end_graph(&me->graphs[i]);
    for (unsigned i = 0; i < BLOCKS; i++)
        end_block(&me->blocks[i]);
    for (unsigned i = 0; i < me->owned; i++) {
        check_slot(me->slots[i]);
        host_may_write(&me->slots[i]->host);
        host_may_write(&me->slots[i]->device);
    }
    end_lanes();
    close(me->pipe[0]);
    close(me->pipe[1]);
    close(me->socket[0]);
    close(me->socket[1]);
}

static void *work(void *given)
{
    me = given;
    make_lanes();
    if (pipe(me->pipe) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, me->socket) != 0)
        fail("no pipe: errno %d", errno);
    start_beats();
    while (!atomic_load(&over)) {
        unsigned long count = atomic_load(&me->steps);
        me->random = mixed(seed + me->number * 1000003ull) + count * 0x2545f4914f6cdd1d;
        const struct step *step = any_step();
        me->trace[count % TRACE] = step->name;
        atomic_store(&me->action, step->name);
        step->make();
        atomic_store(&me->steps, count + 1);
    }
    atomic_store(&me->action, "the end");
    end_worker();
    return NULL;
}

/* ---- the whole ---- */

/* The signal comes again, and kills, when the handler returns. */
static void on_death(int number, siginfo_t *info, void *context)
{
    (void)context;
    dprintf(2, "WRONG: signal %d, code %d, address %p, thread %d, step %lu, %s\n  again: %s\n",
            number, info->si_code, info->si_addr, me ? (int)me->number : -1,
            me ? atomic_load(&me->steps) : 0, me ? atomic_load(&me->action) : "-", repeat_line);
    signal(number, SIG_DFL);
    if (info->si_code <= 0)
        raise(number);
}

static void handle_deaths(void)
{
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE};
    struct sigaction action = {.sa_sigaction = on_death, .sa_flags = SA_SIGINFO | SA_ONSTACK};

    for (unsigned i = 0; i < sizeof deadly / sizeof *deadly; i++)
        MUST(sigaction(deadly[i], &action, NULL));
}

static void say_how(char **arguments, double seconds)
{
    static const char *const names[] = {"SIM_GPU", "STRESS_DEVICES", "SAFECOPY_OPTIONS",
                                        "LD_LIBRARY_PATH", "LD_PRELOAD"};
    size_t used = 0;

    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value && used < sizeof repeat_text)
            used += (size_t)snprintf(repeat_text + used, sizeof repeat_text - used, "%s=%s ",
                                     names[i], value);
    }
    if (used < sizeof repeat_text)
        snprintf(repeat_text + used, sizeof repeat_text - used, "%s %g %llu %u", arguments[0],
                 seconds, (unsigned long long)seed, worker_count);
    repeat_line = repeat_text;
}

static void make_workers(void)
{
    for (unsigned i = 0; i < worker_count; i++) {
        struct worker *worker = &workers[i];
        worker->number = i;
        atomic_store(&worker->action, "the beginning");
        worker->told = make_object(i % 2, sizeof *worker->told);
        sem_init(worker->told, 0, 0);
        worker->beat = make_object(true, sizeof *worker->beat);
    }
    for (unsigned i = 0; i < slot_count; i++) {
        struct worker *worker = &workers[below(worker_count)];
        if (worker->owned == OWNED_MAX || i < worker_count)
            worker = &workers[i % worker_count];
        worker->slots[worker->owned++] = &slots[i];
    }
    for (unsigned i = 0; i < area_count; i++)
        close_area(&areas[i]);
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Ends a thread that has made no step for very long, and the process with it. */
static void watch(double seconds)
{
    unsigned long seen[THREADS_MAX] = {0};
    unsigned idle[THREADS_MAX] = {0};
    double until_s = now_s() + seconds;

    while (now_s() < until_s) {
        usleep(TICK_US);
        for (unsigned i = 0; i < worker_count; i++) {
            unsigned long count = atomic_load(&workers[i].steps);
            idle[i] = count == seen[i] ? idle[i] + 1 : 0;
            seen[i] = count;
            if (idle[i] > STALL_TICKS) {
                for (unsigned j = 0; j < worker_count; j++)
                    dprintf(2, "thread %u is at step %lu, %s\n", j, atomic_load(&workers[j].steps),
                            atomic_load(&workers[j].action));
                fail("thread %u makes no step any more", i);
            }
        }
    }
    atomic_store(&over, true);
}

int main(int count, char **arguments)
{
    static struct worker first = {.number = THREADS_MAX};
    double seconds = count > 1 ? strtod(arguments[1], NULL) : 10;
    unsigned long total = 0;

    if (count > 2)
        seed = strtoull(arguments[2], NULL, 0);
    if (count > 3)
        worker_count = (unsigned)strtoul(arguments[3], NULL, 0);
    if (getenv("STRESS_DEVICES"))
        device_count = atoi(getenv("STRESS_DEVICES"));
    if (device_count < 1 || device_count > DEVICES_MAX) {
        fprintf(stderr, "STRESS_DEVICES=1 to %d\n", DEVICES_MAX);
        return 2;
    }
    if (worker_count < 1 || worker_count > THREADS_MAX || (count > 4 && !choose_steps(arguments))) {
        fprintf(stderr, "correct_programs [SECONDS [SEED [THREADS [STEP...]]]], 1 to %d threads\n",
                THREADS_MAX);
        return 2;
    }
    say_how(arguments, seconds);
    me = &first;
    atomic_store(&me->action, "the beginning");
    me->random = mixed(seed);
    if (seed % 4 != 3)
        handle_deaths();
    handle_beats();
    make_world(worker_count);
    make_boxes();
    make_captures_lock();
    make_workers();
    for (unsigned i = 0; i < worker_count; i++)
        MUST(pthread_create(&workers[i].thread, NULL, work, &workers[i]));
    watch(seconds);
    for (unsigned i = 0; i < worker_count; i++) {
        MUST(pthread_join(workers[i].thread, NULL));
        total += atomic_load(&workers[i].steps);
    }
    atomic_store(&me->action, "the end");
    check_world();
    end_world();
    printf("right: %lu steps of %u threads, seed %llu\n", total, worker_count,
           (unsigned long long)seed);
    return 0;
}
