/* The happens-before engine beside a model of the driver: threads make calls that overlap, in every
 * order that chance finds. The driver takes a call at one moment between its begin and its end;
 * what the engine says to be done, or to come before, has to be so in the model. Calls that do not
 * overlap leave nothing open: there it has to be exactly that. */
#include "common/points.h"
#include "tests/unit/destroy.h"
#include "track/order.h"
#include "track/order_calls.h"

#include <check.h>
#include <stdlib.h>

enum { BLOCKING = 3, NONBLOCKING = 2, STREAMS = 1 + BLOCKING + NONBLOCKING, EVENTS = 4 };
enum { THREADS = 4, OPS_MAX = 64, CALLS = 120, LEGACY = 0 };

typedef uint64_t set; /* of operations */

enum kind {
    OPERATION,
    WORK,
    COPY, /* a synchronous one */
    HOST_FUNCTION,
    RECORD,
    WAIT,
    CONTEXT_WAIT,
    SYNCHRONISE,
    AWAIT,
    CONTEXT_SYNCHRONISE,
    KINDS
};

struct call {
    enum kind kind;
    unsigned stream, event;
    enum { IDLE, BEGUN, TAKEN } state;
    struct sc_order_call call;
    struct sc_point point;
    set seen; /* what the driver says is done */
    unsigned op;
    bool refused;
    bool has_run; /* a host function, before its call has ended */
};

static struct sc_order order;
static uint32_t ids[STREAMS];
static enum sc_stream_kind kinds[STREAMS];
static unsigned event_streams[EVENTS];
static struct sc_point points[EVENTS];
static bool recorded[EVENTS];
static struct sc_ticket tickets[OPS_MAX];
static bool issued[OPS_MAX];
static unsigned op_count;
static struct call threads[THREADS];

/* Check notes each of its own assertions in a file, which costs more than all the rest. */
#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition))                                                                          \
            ck_abort_msg("not so: %s", #condition);                                                \
    } while (0)

/* ---- the model: what comes before the next work on a stream, and what an event stands for ---- */

static set streams[STREAMS], due[STREAMS], gate, events[EVENTS], known;

static set of_blocking(void)
{
    set all = 0;
    for (unsigned i = 0; i < STREAMS; i++)
        all |= kinds[i] == SC_STREAM_BLOCKING ? streams[i] : 0;
    return all;
}

static set before(unsigned stream)
{
    if (kinds[stream] == SC_STREAM_LEGACY)
        return streams[stream] | of_blocking();
    return streams[stream] | (kinds[stream] == SC_STREAM_BLOCKING ? streams[LEGACY] : 0);
}

static void context_waits(set event)
{
    gate |= event;
    for (unsigned i = 0; i < STREAMS; i++)
        due[i] |= event;
}

static set all_streams(void)
{
    set all = gate;
    for (unsigned i = 0; i < STREAMS; i++)
        all |= streams[i];
    return all;
}

static void driver_takes(struct call *call)
{
    unsigned s = call->stream;
    switch (call->kind) {
    case OPERATION:
    case WORK:
    case COPY:
    case HOST_FUNCTION:
        streams[s] = before(s) | due[s] | (call->kind == OPERATION ? (set)1 << call->op : 0);
        due[s] = 0;
        call->seen = streams[s];
        break;
    case RECORD:
        events[call->event] = before(s) | due[s];
        if (s == LEGACY)
            streams[s] = before(s);
        break;
    case WAIT:
        streams[s] = events[call->event] | (s == LEGACY ? before(s) : streams[s]);
        break;
    case CONTEXT_WAIT:
        context_waits(events[call->event]);
        break;
    case SYNCHRONISE:
        call->seen = s == LEGACY ? before(s) : streams[s];
        break;
    case AWAIT:
        call->seen = events[call->event];
        break;
    default:
        call->seen = all_streams();
    }
}

/* ---- the engine, called as interpose/ does ---- */

static void begin_work(struct call *call)
{
    call->call.stream = 0;
    if (sc_order_must_begin_call(&order, ids[call->stream]))
        sc_order_begin_call(&order, ids[call->stream], &call->call);
}

static void end_work(struct call *call)
{
    if (call->call.stream)
        sc_order_end_call(&order, &call->call, !call->refused);
}

static void begin(struct call *call)
{
    uint32_t id = ids[call->stream];
    switch (call->kind) {
    case OPERATION:
        call->op = op_count++;
        begin_work(call);
        break;
    case WORK:
        begin_work(call);
        break;
    case COPY:
    case HOST_FUNCTION:
        begin_work(call);
        call->point = call->call.stream ? sc_order_call_point(&order, &call->call)
                                        : sc_order_point(&order, id);
        break;
    case RECORD:
        sc_order_begin_call(&order, id, &call->call);
        call->point = sc_order_call_point(&order, &call->call);
        break;
    case WAIT:
        sc_order_begin_call(&order, id, &call->call);
        sc_order_call_waits(&order, &call->call, &points[call->event]);
        break;
    case SYNCHRONISE:
        call->point =
            call->stream == LEGACY ? sc_order_legacy_point(&order, id) : sc_order_point(&order, id);
        break;
    case CONTEXT_WAIT:
    case AWAIT:
        call->point = sc_order_copy_point(&points[call->event]);
        break;
    default:
        call->point = sc_order_context_point(&order, ids[LEGACY]);
    }
}

static void know(struct call *call)
{
    if (!call->refused) {
        known |= call->seen;
        sc_order_note_known(&order, &call->point);
    }
    sc_order_release_point(&order, &call->point);
}

static void end(struct call *call)
{
    switch (call->kind) {
    case OPERATION:
        end_work(call);
        if (call->refused)
            break;
        tickets[call->op].stream = ids[call->stream];
        sc_order_renew_ticket(&order, &tickets[call->op]);
        issued[call->op] = true;
        break;
    case WORK:
        end_work(call);
        break;
    case COPY:
    case HOST_FUNCTION:
        end_work(call);
        if (!call->has_run)
            know(call);
        break;
    case RECORD:
        sc_order_end_record(&order, &call->call, !call->refused);
        sc_order_release_point(&order, call->refused ? &call->point : &points[call->event]);
        if (!call->refused)
            points[call->event] = call->point;
        break;
    case WAIT:
        sc_order_end_record(&order, &call->call, !call->refused);
        break;
    case CONTEXT_WAIT:
        sc_order_note_context_wait(&order, ids[LEGACY], &call->point);
        sc_order_release_point(&order, &call->point);
        break;
    default:
        know(call);
    }
}

/* ---- chance ---- */

static uint64_t chance;

static unsigned below(unsigned limit)
{
    chance ^= chance << 13;
    chance ^= chance >> 7;
    chance ^= chance << 17;
    return (unsigned)(chance >> 33) % limit;
}

static bool names_event(const struct call *call)
{
    return (call->kind >= RECORD && call->kind <= CONTEXT_WAIT) || call->kind == AWAIT;
}

/* Of two threads only one uses an event at a time: which record is waited for is known. */
static bool is_used(unsigned event)
{
    for (unsigned i = 0; i < THREADS; i++)
        if (threads[i].state != IDLE && names_event(&threads[i]) && threads[i].event == event)
            return true;
    return false;
}

static bool choose(struct call *call)
{
    *call = (struct call){.kind = (enum kind)below(KINDS),
                          .stream = below(3) ? below(STREAMS) : LEGACY,
                          .event = below(EVENTS)};
    if (call->kind == RECORD)
        call->stream = event_streams[call->event];
    if (names_event(call) &&
        (is_used(call->event) || (call->kind != RECORD && !recorded[call->event])))
        return false;
    call->refused = call->kind <= WAIT && below(10) == 0;
    recorded[call->event] |= call->kind == RECORD && !call->refused;
    return call->kind != OPERATION || op_count < OPS_MAX;
}

static bool is_in(set ops, unsigned op)
{
    return ops >> op & 1;
}

static void check(bool exactly)
{
    for (unsigned op = 0; op < op_count; op++) {
        if (!issued[op])
            continue;
        bool done = sc_order_known_done(&order, &tickets[op]);
        REQUIRE(!done || is_in(known, op));
        REQUIRE(!exactly || done == is_in(known, op));
        for (unsigned s = 0; s < STREAMS; s++) {
            bool covered = sc_order_covers(&order, ids[s], &tickets[op]);
            REQUIRE(!covered || is_in(before(s) | due[s] | known, op));
            REQUIRE(!exactly || covered == is_in(before(s) | due[s] | known, op));
        }
    }
}

/* Streams get the ids of those of the run before. */
static void set_up(void)
{
    for (unsigned i = 0; i < STREAMS; i++) {
        kinds[i] = i == LEGACY     ? SC_STREAM_LEGACY
                   : i <= BLOCKING ? SC_STREAM_BLOCKING
                                   : SC_STREAM_NONBLOCKING;
        ids[i] = sc_order_add(&order, kinds[i], i == LEGACY ? 0 : ids[LEGACY]);
        streams[i] = 0;
        due[i] = 0;
    }
    gate = 0;
    for (unsigned i = 0; i < EVENTS; i++) {
        event_streams[i] = below(STREAMS);
        points[i] = (struct sc_point){0};
        recorded[i] = false;
        events[i] = 0;
    }
    for (unsigned i = 0; i < OPS_MAX; i++)
        issued[i] = false;
    op_count = 0;
    known = 0;
}

static void step(struct call *call, bool exactly)
{
    if (call->state == IDLE) {
        if (!choose(call))
            return;
        begin(call);
        call->state = BEGUN;
    } else if (call->state == BEGUN) {
        if (!call->refused)
            driver_takes(call);
        call->state = TAKEN;
    } else if (call->kind == HOST_FUNCTION && !call->refused && !call->has_run && below(2)) {
        know(call);
        call->has_run = true;
    } else {
        end(call);
        call->state = IDLE;
        check(exactly);
    }
}

static bool joins_no_legacy(unsigned op)
{
    return sc_order_stream(&order, tickets[op].stream)->kind == SC_STREAM_NONBLOCKING;
}

static void run(uint64_t seed, unsigned thread_count)
{
    chance = seed * 0x9e3779b97f4a7c15u + 1;
    set_up();
    for (unsigned i = 0; i < CALLS * 3; i++)
        step(&threads[below(thread_count)], thread_count == 1);
    for (unsigned i = 0; i < thread_count; i++)
        while (threads[i].state != IDLE)
            step(&threads[i], thread_count == 1);
    /* However calls overlapped: behind one more on the legacy stream all of them are found again.
     */
    struct sc_order_call last;
    sc_order_begin_call(&order, ids[LEGACY], &last);
    sc_order_end_call(&order, &last, true);
    streams[LEGACY] = before(LEGACY);
    for (unsigned op = 0; op < op_count; op++)
        REQUIRE(!issued[op] || joins_no_legacy(op) ||
                sc_order_covers(&order, ids[1], &tickets[op]));
    for (unsigned i = 0; i < EVENTS; i++)
        sc_order_release_point(&order, &points[i]);
    for (unsigned i = STREAMS; i-- > 0;)
        sc_order_remove(&order, ids[i]);
}

START_TEST(one_thread_knows_exactly)
{
    sc_order_init(&order);
    for (uint64_t seed = 1; seed <= 500; seed++)
        run(seed, 1);
    destroy_order(&order);
}
END_TEST

START_TEST(overlapping_calls_claim_nothing_that_is_not_so)
{
    sc_order_init(&order);
    for (uint64_t seed = 1; seed <= 3000; seed++)
        run(seed, 2 + seed % (THREADS - 1));
    destroy_order(&order);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("order of calls");
    TCase *group = tcase_create("order of calls");
    tcase_set_timeout(group, 300);
    tcase_add_test(group, one_thread_knows_exactly);
    tcase_add_test(group, overlapping_calls_claim_nothing_that_is_not_so);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
