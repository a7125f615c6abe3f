/* links: interpose/guard/protect.c interpose/guard/touches.c interpose/guard/steps.c
 * links: interpose/guard/map_waits.c interpose/base/warning.c
 * not-under: thread memcheck debug
 *
 * Whose a fault is, under every interleaving of three threads on one page, as far as they can be
 * told apart with so many preemptions: a thread is stopped before it takes a lock, before and after
 * the kernel changes a page or is asked about one, and before it touches memory. A schedule says
 * who goes on at each of these points; all of them are tried, one after the other, from the same
 * beginning.
 *
 * The threads are coroutines of one thread, the kernel is an array of pages, and the rest of the
 * library is not there. What is checked: a fault on a page that the guard protects is never given
 * to the program; one on a page that the program has protected itself always is.
 *
 * Fortified headers would have longjmp end a program that leaves a stack for another one.
 */
// cflags: -O2 -U_FORTIFY_SOURCE

#include "common/brief_lock.h"
#include "common/hazard_words.h"
#include "common/library_lock.h"
#include "common/pages.h"
#include "common/points.h"
#include "common/ticks.h"
#include "interpose/base/process.h"
#include "interpose/base/spare_stack.h"
#include "interpose/guard/apart.h"
#include "interpose/guard/door.h"
#include "interpose/guard/guard.h"
#include "interpose/guard/loans.h"
#include "interpose/guard/neighbours.h"
#include "interpose/guard/page_access.h"
#include "interpose/guard/protect.h"
#include "interpose/guard/reach.h"
#include "interpose/guard/userfaults.h"
#include "interpose/reaper/culprit.h"
#include "interpose/reaper/excuses.h"
#include "interpose/reaper/hazards.h"
#include "interpose/reaper/nvtx.h"
#include "interpose/reaper/reaper.h"
#include "interpose/signals/single_step.h"
#include "interpose/signals/upwards.h"
#include "interpose/streams/contexts.h"
#include "interpose/streams/host_functions.h"
#include "interpose/streams/streams.h"
#include "report/report.h"
#include "tests/unit/destroy.h"
#include "tests/unit/locked.h"
#include "track/grid.h"
#include "track/guarded.h"
#include "track/inflight_calls.h"
#include "track/op_info.h"
#include "track/spans.h"
#include "track/track.h"
#include "track/track_ops.h"
#include "track/track_order.h"
#include "track/track_ranges.h"
#include "track/tracker.h"

#include <check.h>
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum {
    THREADS = 3,
    PAGE = 4096,
    PAGES = 4,
    STACK_BYTES = 256 << 10,
    POINTS_MAX = 4096, /* of a schedule; a thread that gets nowhere comes to more */
    TOUCHES_MAX = 64,
};

/* Another one in turn, since what is counted by page is to begin anew in each run. */
enum { BASES_APART = 64 * PAGE };
static uintptr_t base = (uintptr_t)7 << 32;

/* ---- the scheduler ---- */

struct coroutine {
    ucontext_t context; /* where it begins, for the first time */
    jmp_buf beginning;  /* where it does so in later runs */
    jmp_buf place;      /* where it goes on */
    bool has_run;
    bool has_begun;
    char *stack;
    void (*body)(void);
    const void *awaits;       /* blocked for this lock */
    int inside;               /* its sc_library_lock_depth */
    uint64_t changed_stripes; /* its sc_spans_changed_stripes */
    uint64_t locked_stripes;  /* its sc_spans_locked_stripes */
    bool is_over;
};

static struct coroutine coroutines[THREADS];
static struct coroutine *current; /* NULL: nobody is scheduled */
static jmp_buf explorer;

/* The point where a schedule leaves its predecessor, and what could be chosen instead. */
struct point {
    unsigned char choice, choices;
    bool can_go_on; /* the first choice costs no preemption */
};

static struct point points[POINTS_MAX];
static unsigned reached, planned, preemptions, preemptions_max;
static const char *violation;

static bool is_owned(const void *lock);

static bool is_enabled(const struct coroutine *coroutine)
{
    return !coroutine->is_over && !(coroutine->awaits && is_owned(coroutine->awaits));
}

/* The one that is running first, if it can go on; then the others. */
static unsigned enabled(struct coroutine **choices)
{
    unsigned count = 0;
    if (current && is_enabled(current))
        choices[count++] = current;
    for (unsigned i = 0; i < THREADS; i++)
        if (&coroutines[i] != current && is_enabled(&coroutines[i]))
            choices[count++] = &coroutines[i];
    return count;
}

static void violated(const char *what)
{
    if (!violation)
        violation = what;
}

static struct coroutine *choose(void)
{
    struct coroutine *choices[THREADS];
    unsigned count = enabled(choices);
    bool can_go_on = current && is_enabled(current);
    if (count == 0 || violation || reached == POINTS_MAX)
        return NULL;
    if (can_go_on && preemptions == preemptions_max)
        count = 1;
    struct point *point = &points[reached];
    if (reached++ >= planned)
        point->choice = 0;
    else if (point->choices != count)
        violated("a run is not like the one before");
    point->choices = (unsigned char)count;
    point->can_go_on = can_go_on;
    if (can_go_on && point->choice > 0)
        preemptions++;
    return choices[point->choice];
}

/* Jumps save no signal mask, which costs more than all the rest. */
static __attribute__((noinline)) void enter(struct coroutine *next)
{
    if (!next)
        _longjmp(explorer, 1);
    if (next->has_begun)
        _longjmp(next->place, 1);
    next->has_begun = true;
    if (next->has_run)
        _longjmp(next->beginning, 1);
    next->has_run = true;
    setcontext(&next->context);
}

static __attribute__((noinline)) void go_on(struct coroutine *next)
{
    struct coroutine *before = current;
    if (before) {
        before->inside = sc_library_lock_depth;
        before->changed_stripes = sc_spans_changed_stripes;
        before->locked_stripes = sc_spans_locked_stripes;
    }
    current = next;
    sc_library_lock_depth = next ? next->inside : 0;
    sc_spans_changed_stripes = next ? next->changed_stripes : 0;
    sc_spans_locked_stripes = next ? next->locked_stripes : 0;
    if (before != next && _setjmp(before ? before->place : explorer) == 0)
        enter(next);
}

static void yield(void)
{
    if (current)
        go_on(choose());
}

static void run_body(void)
{
    _setjmp(current->beginning);
    current->body();
    current->is_over = true;
    yield();
}

/* ---- locks ---- */

static const void *owned[8];
static const struct coroutine *owners[8];

static bool is_owned(const void *lock)
{
    for (unsigned i = 0; i < 8; i++)
        if (owned[i] == lock)
            return true;
    return false;
}

static void own(const void *lock, const struct coroutine *owner)
{
    for (unsigned i = 0; i < 8; i++)
        if (!owned[i]) {
            owned[i] = lock;
            owners[i] = owner;
            return;
        }
    abort();
}

static void disown(const void *lock)
{
    for (unsigned i = 0; i < 8; i++)
        if (owned[i] == lock && owners[i] == current)
            owned[i] = NULL;
}

static void take(const void *lock)
{
    yield();
    current->awaits = lock;
    while (is_owned(lock))
        yield();
    current->awaits = NULL;
    own(lock, current);
}

void sc_brief_lock_acquire(struct sc_brief_lock *lock)
{
    sc_library_lock_enter();
    if (current)
        take(lock);
    sc_brief_lock_note(lock, true);
}

void sc_brief_lock_acquire_over_call(struct sc_brief_lock *lock)
{
    sc_brief_lock_acquire(lock);
}

bool sc_brief_lock_try(struct sc_brief_lock *lock)
{
    sc_library_lock_enter();
    yield();
    if (!current || !is_owned(lock)) {
        if (current)
            own(lock, current);
        sc_brief_lock_note(lock, true);
        return true;
    }
    sc_library_lock_leave();
    return false;
}

void sc_brief_lock_release(struct sc_brief_lock *lock)
{
    sc_brief_lock_note(lock, false);
    if (current)
        disown(lock);
    sc_library_lock_leave();
}

typedef int mutex_function(pthread_mutex_t *mutex);

static mutex_function *real(const char *name)
{
    return (mutex_function *)dlsym(RTLD_NEXT, name);
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (!current)
        return real("pthread_mutex_lock")(mutex);
    take(mutex);
    return 0;
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    if (!current)
        return real("pthread_mutex_unlock")(mutex);
    disown(mutex);
    return 0;
}

/* ---- the kernel ---- */

static enum sc_access kernel[PAGES];
static bool programs_own[PAGES];

static unsigned page_of(uintptr_t address)
{
    return (unsigned)((address - base) / PAGE);
}

static bool denies(uintptr_t address, enum sc_touch touch)
{
    enum sc_access access = kernel[page_of(address)];
    return access == SC_ACCESS_NONE || (access == SC_ACCESS_READ && touch == SC_TOUCH_WRITE);
}

int sc_page_access_set(uintptr_t address, size_t size_bytes, enum sc_access access)
{
    if (size_bytes == 0)
        return 0;
    yield();
    for (uintptr_t page = address; page < address + size_bytes; page += PAGE)
        kernel[page_of(page)] = access;
    yield();
    return 0;
}

bool sc_page_access_denies(uintptr_t address, enum sc_touch touch)
{
    yield();
    bool denied = denies(address, touch);
    yield();
    return denied;
}

/* ---- what else there is of the library ---- */

struct sc_options sc_options = {.mode = SC_MODE_FIX, .stall_limit_ns = 1000000000};
struct sc_process sc_process = {.is_active = true};

void sc_guard_apply(uint64_t stream_bits)
{
    if (sc_spans_may_be_unapplied(&sc_track.inflight.guards, stream_bits != 0))
        sc_protect_apply(~UINT64_C(0));
}

bool sc_guard_busy(void)
{
    return atomic_load(&sc_track.inflight.guards.busy) != 0;
}

bool sc_userfaults_is_protected(uintptr_t address)
{
    (void)address;
    return false;
}

bool sc_userfaults_mechanism_is_noted(uintptr_t start, size_t size_bytes, bool left)
{
    (void)start;
    (void)size_bytes;
    return left;
}

void sc_userfaults_note_mechanism(uintptr_t start, size_t size_bytes, bool left)
{
    (void)start;
    (void)size_bytes;
    (void)left;
}

void sc_userfaults_adopt_sources(uintptr_t start, size_t size_bytes)
{
    (void)start;
    (void)size_bytes;
}

void sc_userfaults_protect_again(uintptr_t address)
{
    (void)address;
}

void sc_userfaults_restore(uintptr_t start, size_t size_bytes)
{
    (void)start;
    (void)size_bytes;
}

void sc_userfaults_resume_touch(uintptr_t address, bool denied)
{
    (void)address;
    (void)denied;
}

void sc_apart_note(uintptr_t address, size_t size_bytes)
{
    (void)address;
    (void)size_bytes;
}

void sc_apart_join_all(void)
{
}

bool sc_loans_find(const struct sc_access_change *change, struct sc_lent *lent)
{
    (void)change;
    (void)lent;
    return false;
}

bool sc_spare_stack_try(sc_spare_function *function, void *argument, const uint64_t *outside)
{
    (void)outside;
    function(argument);
    return true;
}

void sc_spare_stack_repeat(sc_spare_function *function, void *argument)
{
    function(argument);
}

void sc_spare_stack_undo_by(void (*undo)(void *lock), void *lock)
{
    (void)undo, (void)lock;
}

__thread int32_t sc_process_thread_id; /* never known: it is asked for each time */

int32_t sc_process_find_thread_id(void)
{
    return (int32_t)(current - coroutines) + 1;
}

bool sc_process_is_child(void)
{
    return false;
}

/* Threads touch what they may, and nobody waits or is accused. */
void sc_hazards_report_touch(enum sc_hazard_code code, enum sc_action action,
                             const struct sc_ops *ops, const struct sc_buffer *buffer,
                             const struct sc_culprit *culprit)
{
    (void)code;
    (void)action;
    (void)ops;
    (void)buffer;
    (void)culprit;
    violated("a correct program is accused");
}

enum sc_hazard_code sc_hazards_touch_code(const struct sc_op_info *op, enum sc_touch kind)
{
    (void)op;
    (void)kind;
    return SC202;
}

/* There are no kernels here. */
bool sc_hazards_heals(const struct sc_op_info *op)
{
    (void)op;
    return true;
}

void sc_excuses_kernel_waits(const struct sc_ticket *ticket)
{
    (void)ticket;
}

bool sc_excuses_kernel_is_waiting(const struct sc_ticket *ticket)
{
    (void)ticket;
    return false;
}

bool sc_excuses_kernel_is_stuck(struct sc_excuses_stand *stand, uint32_t stream)
{
    (void)stand, (void)stream;
    return false;
}

struct sc_buffer sc_hazards_buffer_of(const struct sc_op_info *op)
{
    return (struct sc_buffer){op->shape.address, op->shape.width_bytes};
}

bool sc_atomic_stores_is_one(uintptr_t pc);
bool sc_atomic_stores_is_one(uintptr_t pc)
{
    (void)pc;
    return false;
}

uint64_t sc_host_functions_own_ticks(void);
uint64_t sc_host_functions_own_ticks(void)
{
    return 0;
}

bool sc_host_functions_are_open(const struct sc_op_info *op)
{
    (void)op;
    return false;
}

void sc_host_functions_poll(uint64_t waits_since_ns)
{
    (void)waits_since_ns;
}

bool sc_host_functions_excuses(const struct sc_op_info *op, uint64_t touched_ticks)
{
    (void)op;
    (void)touched_ticks;
    return false;
}

bool sc_driver_code_has_called(uintptr_t pc, const void *context);
bool sc_driver_code_has_called(uintptr_t pc, const void *context)
{
    (void)pc;
    (void)context;
    return false;
}

bool sc_driver_code_runs(uintptr_t pc, const void *context);
bool sc_driver_code_runs(uintptr_t pc, const void *context)
{
    (void)pc;
    (void)context;
    return false;
}

size_t sc_reach_of(const struct sc_fault *fault)
{
    (void)fault;
    return 1;
}

/* One thread at a time is stepped, where they are at all. */
static bool steps;
static struct {
    const struct coroutine *of;
    uintptr_t page;
    sc_single_step_done *done;
} step;

static void end_step(void)
{
    if (!step.of || step.of != current)
        return;
    yield();
    step.done(step.page, false);
    step.of = NULL;
}

bool sc_single_step_begin(const struct sc_fault *fault, uintptr_t page, sc_single_step_done *done)
{
    (void)fault;
    if (!steps || step.of)
        return false;
    step.of = current;
    step.page = page;
    step.done = done;
    return true;
}

void sc_single_step_forget(const struct sc_fault *fault)
{
    (void)fault;
}

void sc_neighbours_note_touch(uintptr_t address)
{
    (void)address;
}

void sc_neighbours_note_hazard(uintptr_t address)
{
    (void)address;
}

void sc_nvtx_stall_begin(const char *api)
{
    (void)api;
}

void sc_nvtx_stall_end(void)
{
}

uint32_t sc_reaper_pass_number(void)
{
    return 0;
}

void sc_reaper_sleep(uint32_t round, uint64_t until_ns)
{
    (void)round;
    (void)until_ns;
    yield();
}

bool sc_reaper_has_stopped(void)
{
    return false;
}

void sc_reaper_wake(void)
{
}

/* ---- what threads do ---- */

static uint32_t stream_ids[THREADS];
static struct sc_range_info range;

/* The look that was there before the invariant: what no living span covers, and the kernel denies
 * once everything is applied, is the program's. */
static bool naive_fault(const struct sc_fault *fault)
{
    if (sc_grid_find_at(&sc_track.inflight.guards.grid, fault->address) != 0) {
        LOCKED(&sc_track, sc_guarded_unprotect(&sc_track.inflight, fault->address, 1,
                                               SC_TOUCH_WRITE, false, SC_NO_VERDICT_NEIGHBOURS));
        sc_guard_apply(SC_GUARD_ALL);
        return true;
    }
    sc_guard_apply(SC_GUARD_ALL);
    bool covered = sc_grid_find_at(&sc_track.inflight.guards.grid, fault->address) != 0;
    return covered ||
           !sc_page_access_denies(fault->address, fault->write ? SC_TOUCH_WRITE : SC_TOUCH_READ);
}

static bool (*handle_fault)(const struct sc_fault *fault);
static uintptr_t runs; /* also where each one's instructions are: nothing is known of them */

/* An instruction, which is repeated as the kernel does it. True: the program got a signal. */
static bool touch(uintptr_t address, enum sc_touch kind)
{
    for (unsigned i = 0; i < TOUCHES_MAX; i++) {
        yield();
        if (!denies(address, kind)) {
            end_step();
            return false;
        }
        struct sc_fault fault = {
            .address = address, .pc = runs, .write = kind == SC_TOUCH_WRITE, .denied = true};
        yield();
        end_step();
        if (!handle_fault(&fault))
            return true;
    }
    violated("an instruction is repeated for ever");
    return false;
}

static unsigned own_number(void)
{
    return (unsigned)(current - coroutines);
}

/* Pages lie in a stripe of their own, which threads lock_stripes. */
static bool locks_stripes;

static uint64_t own_stripe(void)
{
    return UINT64_C(1) << sc_spans_home_stripe(&sc_track.inflight.guards, base);
}

static void lock_stripes(void)
{
    if (locks_stripes)
        sc_protect_lock_stripes(own_stripe());
}

static void tell(void)
{
    if (locks_stripes)
        sc_protect_apply_and_unlock();
}

static void issue(uintptr_t address)
{
    SC_ISSUED(issued);
    struct sc_op_info op = {
        .api = "copy",
        .shape = {address, 8, 8, 1},
        .ticket = {.stream = stream_ids[own_number()]},
        .direction = SC_D2H,
        .kind = SC_PINNED,
        .range = range.range,
        .access = SC_ACCESS_NONE,
        .guard_address = address & ~(uintptr_t)(PAGE - 1),
        .guard_bytes = PAGE,
    };
    lock_stripes();
    sc_track_issue(&sc_track, &(struct sc_order_call){0}, &op, 1, &issued);
    tell();
    sc_guard_apply(SC_GUARD_ALL);
}

static void synchronise(void)
{
    struct sc_point point =
        sc_track_sync_point(&sc_track, stream_ids[own_number()], SC_SCOPE_STREAM);
    lock_stripes();
    sc_track_note_known(&sc_track, &point, NULL, NULL);
    tell();
    sc_guard_apply(SC_GUARD_ALL);
}

static void must_not_fault(uintptr_t address, enum sc_touch kind)
{
    if (touch(address, kind))
        violated("a fault that is the guard's is given to the program");
}

/* A result of its own on a page that the others use as well. */
static void copies_into_its_slot(void)
{
    uintptr_t slot = base + 64 * own_number();
    issue(slot);
    synchronise();
    must_not_fault(slot, SC_TOUCH_READ);
}

static void copies_twice(void)
{
    copies_into_its_slot();
    copies_into_its_slot();
}

static void touches_beside(void)
{
    must_not_fault(base + 2048, SC_TOUCH_WRITE);
}

static void ends_and_touches_beside(void)
{
    synchronise();
    must_not_fault(base + 2048, SC_TOUCH_WRITE);
}

/* Takes access to a page of its own away, as mprotect's wrapper does it, and expects its signal. */
static void protects_its_own_page(void)
{
    uintptr_t address = base + 2 * PAGE;
    issue(address);
    synchronise();
    LOCKED(&sc_track, sc_guarded_set(&sc_track.inflight, address, PAGE, SC_GUARDING_FORBIDDEN));
    sc_guard_apply(SC_GUARD_ALL);
    kernel[2] = SC_ACCESS_NONE;
    programs_own[2] = true;
    if (!touch(address, SC_TOUCH_READ))
        violated("a fault of the program's own is not given to it");
}

/* The memory goes back, and its pages with it. */
static void frees_beside(void)
{
    issue(base + 8);
    synchronise();
    LOCKED(&sc_track, sc_inflight_remove_range_at(&sc_track.inflight, base));
    sc_guard_apply(SC_GUARD_ALL);
}

/* ---- exploring ---- */

static void build_world(void)
{
    ck_assert_int_eq(sc_track_init(&sc_track), 0);
    sc_track.inflight.guards.page_mask = PAGE - 1; /* this kernel's, whatever the real one has */
    uint32_t context = sc_track_add_stream(&sc_track, SC_STREAM_LEGACY, 0, 1, 0);
    for (unsigned i = 0; i < THREADS; i++)
        stream_ids[i] =
            sc_track_add_stream(&sc_track, SC_STREAM_NONBLOCKING, context, 0x1000 + i, 0);
}

/* What a run leaves is gone: the next one begins as it did. */
static void clean_world(void)
{
    for (unsigned i = 0; i < THREADS; i++) {
        struct sc_point point = sc_track_sync_point(&sc_track, stream_ids[i], SC_SCOPE_STREAM);
        sc_track_note_known(&sc_track, &point, NULL, NULL);
    }
    LOCKED(&sc_track, sc_inflight_remove_range_at(&sc_track.inflight, base));
    sc_guard_apply(SC_GUARD_ALL);
    base ^= BASES_APART;
    memset(kernel, 0, sizeof kernel);
    memset(programs_own, 0, sizeof programs_own);
    memset(owned, 0, sizeof owned);
    step.of = NULL;
    sc_track_add_range(&sc_track, base, PAGES * PAGE, SC_PINNED, 0, 0);
    range = sc_track_find_range(&sc_track, base);
}

static void check_end(void)
{
    for (unsigned i = 0; i < THREADS && !violation; i++)
        if (!coroutines[i].is_over)
            violated("the threads wait for each other");
    sc_guard_apply(SC_GUARD_ALL);
    for (unsigned i = 0; i < PAGES && !violation; i++)
        if (kernel[i] != SC_ACCESS_ALL && !programs_own[i])
            violated("a page stays protected");
}

static void run_once(void (*const *bodies)(void))
{
    clean_world();
    for (unsigned i = 0; i < THREADS; i++) {
        struct coroutine *coroutine = &coroutines[i];
        coroutine->body = bodies[i];
        coroutine->has_begun = coroutine->is_over = false;
        coroutine->awaits = NULL;
        coroutine->inside = 0;
        coroutine->changed_stripes = coroutine->locked_stripes = 0;
    }
    runs++;
    reached = preemptions = 0;
    violation = NULL;
    current = NULL;
    go_on(choose());
    current = NULL;
    sc_library_lock_depth = 0;
    check_end();
}

/* The next schedule in order: false if that was the last. */
static bool plan_next(void)
{
    while (reached > 0 && points[reached - 1].choice + 1 >= points[reached - 1].choices)
        reached--;
    if (reached == 0)
        return false;
    points[reached - 1].choice++;
    planned = reached;
    return true;
}

/* Returns how many schedules there were, or up to the first that violates something. */
static unsigned long explore(void (*const *bodies)(void), unsigned preemptions_allowed)
{
    unsigned long schedules = 0;
    preemptions_max = preemptions_allowed;
    planned = 0;
    do {
        run_once(bodies);
        schedules++;
    } while (!violation && plan_next());
    return schedules;
}

/* Out of line, so that no variable of a caller's is one that getcontext may find changed. */
static __attribute__((noinline)) void prepare(struct coroutine *coroutine)
{
    getcontext(&coroutine->context);
    coroutine->context.uc_stack.ss_sp = coroutine->stack;
    coroutine->context.uc_stack.ss_size = STACK_BYTES;
    makecontext(&coroutine->context, run_body, 0);
}

static void set_up(void)
{
    for (unsigned i = 0; i < THREADS; i++) {
        coroutines[i] = (struct coroutine){.stack = malloc(STACK_BYTES)};
        prepare(&coroutines[i]);
    }
    build_world();
    handle_fault = sc_guard_fault;
}

static void tear_down(void)
{
    for (unsigned i = 0; i < THREADS; i++)
        free(coroutines[i].stack);
    destroy_track(&sc_track);
}

/* Where each step is slow (tests/memcheck.py). */
static unsigned few(unsigned preemptions_allowed)
{
    return getenv("SAFECOPY_FEW_ROUNDS") ? 1 : preemptions_allowed;
}

static void explore_all(const char *what, void (*first)(void), void (*second)(void),
                        void (*third)(void), unsigned preemptions_allowed)
{
    void (*const bodies[THREADS])(void) = {first, second, third};
    for (unsigned way = 0; way < 4; way++) {
        steps = way & 1;
        locks_stripes = way & 2;
        size_t striped_bytes = locks_stripes ? SC_SPANS_AREA_BYTES : 0;
        sc_spans_set_stripes(&sc_track.inflight.guards, base & ~(uintptr_t)(2 * BASES_APART - 1),
                             striped_bytes, striped_bytes);
        unsigned long schedules = explore(bodies, preemptions_allowed);
        if (violation)
            ck_abort_msg("%s, %s, %s: %s, in schedule %lu", what, steps ? "stepped" : "let go",
                         locks_stripes ? "attended" : "alone", violation, schedules);
        ck_assert_uint_gt(schedules, 100);
    }
}

/* ---- the tests ---- */

START_TEST(slots_of_one_page)
{
    explore_all("slots", copies_into_its_slot, copies_into_its_slot, copies_into_its_slot, few(3));
}
END_TEST

START_TEST(slots_of_one_page_and_a_neighbour)
{
    explore_all("neighbour", copies_into_its_slot, copies_into_its_slot, touches_beside, few(3));
}
END_TEST

START_TEST(spans_that_end_while_another_begins)
{
    explore_all("twice", copies_twice, ends_and_touches_beside, touches_beside, few(3));
}
END_TEST

START_TEST(memory_that_is_given_back)
{
    explore_all("freed", copies_into_its_slot, frees_beside, touches_beside, few(3));
}
END_TEST

START_TEST(pages_that_the_program_protects)
{
    explore_all("own", copies_into_its_slot, protects_its_own_page, touches_beside, few(3));
}
END_TEST

/* The search finds what was wrong before there was an invariant. */
START_TEST(a_look_at_living_spans_is_not_enough)
{
    void (*const bodies[THREADS])(void) = {copies_into_its_slot, copies_into_its_slot,
                                           touches_beside};
    handle_fault = naive_fault;
    explore(bodies, 3);
    ck_assert_ptr_nonnull(violation);
    ck_assert_str_eq(violation, "a fault that is the guard's is given to the program");
}
END_TEST

int main(void)
{
    sc_ticks_start();
    Suite *suite = suite_create("interleavings");
    TCase *group = tcase_create("faults");
    tcase_add_checked_fixture(group, set_up, tear_down);
    tcase_set_timeout(group, 120);
    tcase_add_test(group, slots_of_one_page);
    tcase_add_test(group, slots_of_one_page_and_a_neighbour);
    tcase_add_test(group, spans_that_end_while_another_begins);
    tcase_add_test(group, memory_that_is_given_back);
    tcase_add_test(group, pages_that_the_program_protects);
    tcase_add_test(group, a_look_at_living_spans_is_not_enough);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
