#include "interpose/streams/plain_functions.h"

#include <stddef.h>

#include "common/peek.h"
#include "interpose/base/instructions.h"
#include "interpose/base/spare_stack.h"

/* Functions that host functions may call without waiting for the program's threads: of libc, except
 * for waits within an allocator or a stream of stdio, and of C++ (delete, notify of a condition).
 * They are found by their names in the linker's table, and not called here. */
#define FUNCTIONS(X)                                                                               \
    X(nanosleep, SLEEPS)                                                                           \
    X(clock_nanosleep, SLEEPS)                                                                     \
    X(usleep, SLEEPS)                                                                              \
    X(sleep, SLEEPS)                                                                               \
    X(thrd_sleep, SLEEPS)                                                                          \
    X(__stack_chk_fail, ENDS_THERE)                                                                \
    X(__errno_location, GOES_ON)                                                                   \
    X(clock_gettime, GOES_ON)                                                                      \
    X(gettimeofday, GOES_ON)                                                                       \
    X(time, GOES_ON)                                                                               \
    X(memcpy, GOES_ON)                                                                             \
    X(memmove, GOES_ON)                                                                            \
    X(memset, GOES_ON)                                                                             \
    X(memcmp, GOES_ON)                                                                             \
    X(strlen, GOES_ON)                                                                             \
    X(malloc, GOES_ON)                                                                             \
    X(calloc, GOES_ON)                                                                             \
    X(free, GOES_ON)                                                                               \
    X(sem_post, GOES_ON)                                                                           \
    X(pthread_cond_signal, GOES_ON)                                                                \
    X(pthread_cond_broadcast, GOES_ON)                                                             \
    X(puts, GOES_ON)                                                                               \
    X(putchar, GOES_ON)                                                                            \
    X(printf, GOES_ON)                                                                             \
    X(fprintf, GOES_ON)                                                                            \
    X(fputs, GOES_ON)                                                                              \
    X(fputc, GOES_ON)                                                                              \
    X(fwrite, GOES_ON)                                                                             \
    X(fflush, GOES_ON)                                                                             \
    X(__printf_chk, GOES_ON)                                                                       \
    X(__fprintf_chk, GOES_ON)                                                                      \
    X(_ZdlPv, GOES_ON)                                                                             \
    X(_ZdlPvm, GOES_ON)                                                                            \
    X(_ZNSt18condition_variable10notify_oneEv, GOES_ON)                                            \
    X(_ZNSt18condition_variable10notify_allEv, GOES_ON)

#include "common/poison.h"

enum {
    CODE_BYTES = 256,
    STEPS_MAX = 2000, /* of all paths together: a function with a loop takes more */
    CALLS_MAX = 8,    /* how deep calls may be nested */
    FORKS_MAX = 16,
    PAGE_BYTES = 4096, /* a page has a multiple of this */
};

/* ---- functions of others ---- */

/* What a function of libc does. */
enum manner {
    UNKNOWN,
    GOES_ON,
    SLEEPS,     /* it sleeps for a time, and returns 0 if nothing has woken it */
    ENDS_THERE, /* it ends the program, since the stack was overwritten */
};

#define X(name, manner) extern char of_##name[] __asm__(#name) __attribute__((weak));
FUNCTIONS(X)
#undef X

/* Returns what is known of a function of libc that host functions may call; UNKNOWN: it is not in
 * the list. */
static enum manner manner_of(uintptr_t function)
{
    static const struct {
        char *function;
        enum manner manner;
    } rows[] = {
#define X(name, manner) {of_##name, manner},
        FUNCTIONS(X)
#undef X
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (function && (uintptr_t)rows[i].function == function)
            return rows[i].manner;
    return UNKNOWN;
}

/* ---- code ---- */

/* The walk through one function's code: how far it has come, and the bytes that it is at. */
struct walk {
    unsigned steps, forks;
    uintptr_t from; /* the code that was read last */
    size_t size_bytes;
    unsigned char code[CODE_BYTES];
};

/* Reads code from `pc` to the end of the page. If an instruction may go on in the next page, reads
 * that as well, which need not be mapped. */
static void read_code(struct walk *walk, uintptr_t pc)
{
    size_t first = PAGE_BYTES - pc % PAGE_BYTES;
    first = first < CODE_BYTES ? first : CODE_BYTES;
    walk->from = pc;
    walk->size_bytes = sc_peek_anyhow(walk->code, pc, first) ? first : 0;
    if (first < SC_INSTRUCTION_BYTES_MAX + 1 &&
        sc_peek_anyhow(walk->code + first, pc + first, CODE_BYTES - first))
        walk->size_bytes = CODE_BYTES;
}

/* Reads the instruction at `pc`: its length, and where it leads. The code is copied in portions, by
 * system calls, since a bad address must not fault. */
static struct sc_instruction instruction_at(struct walk *walk, uintptr_t pc)
{
    enum { AHEAD_BYTES = 16 };
    if (pc < walk->from || pc + AHEAD_BYTES > walk->from + walk->size_bytes)
        read_code(walk, pc);
    return sc_instructions_read(walk->code + (pc - walk->from),
                                walk->size_bytes - (pc - walk->from), pc);
}

/* ---- ways ---- */

/* How a path ends, the worst last. A trap is a place that the program never gets to. */
enum end { TRAP, RETURNS, MAY_WAIT };

/* One path through the code, and what is known on it. */
struct way {
    uintptr_t pc;
    bool has_slept;
    bool knows_result, knows_comparison;
    bool is_equal; /* what the last comparison found */
    int32_t result;
    unsigned depth;
    uintptr_t returns[CALLS_MAX];
};

static enum end follow_path(struct walk *walk, struct way way);

/* Keeps what is known of the result register and of the last comparison up to date: by these it is
 * known which way a branch goes that follows a sleep. */
static void note_result_and_comparison(struct way *way, const struct sc_instruction *read)
{
    enum { SMALL = 127 }; /* of such a number a byte, and its sign, are the number as well */
    bool is_small = way->knows_result && way->result >= 0 && way->result <= SMALL;
    if (read->effect == SC_EFFECT_KEEPS)
        return;
    way->knows_comparison =
        read->effect == SC_EFFECT_EQUALS || (read->effect == SC_EFFECT_COMPARES && is_small);
    way->is_equal = read->effect == SC_EFFECT_EQUALS || way->result == read->number;
    if (read->effect != SC_EFFECT_COMPARES) {
        way->knows_result = read->effect == SC_EFFECT_SETS;
        way->result = read->number;
    }
}

/* Follows a return instruction to the caller on this path. Returns false if the host function
 * itself returns. */
static bool return_to_caller(struct way *way)
{
    if (way->depth == 0)
        return false;
    way->pc = way->returns[--way->depth];
    way->knows_comparison = false;
    return true;
}

/* Keeps where a called function returns to. Returns false if calls are nested too deep to be
 * followed. */
static bool push_return(struct way *way, uintptr_t back)
{
    if (way->depth == CALLS_MAX)
        return false;
    way->returns[way->depth++] = back;
    return true;
}

/* Notes what is known behind a call of a function of libc: a sleep returns 0, so that a loop over
 * interrupted sleeps ends. Nothing is known of other results. */
static void note_call_of_libc(struct way *way, enum manner manner)
{
    way->has_slept |= manner == SLEEPS;
    way->knows_comparison = false;
    way->knows_result = manner == SLEEPS;
    way->result = 0;
}

/* Returns where a jump or call goes; through a pointer, where the pointer leads now (the loader
 * binds calls so). 0: it is not known. */
static uintptr_t target_of(const struct sc_instruction *read)
{
    uintptr_t target = 0;
    if (!read->is_pointer)
        return read->target;
    return sc_peek_anyhow(&target, read->target, sizeof target) ? target : 0;
}

/* Follows a call or jump, into a function of the program or past one of libc. Returns true if the
 * path goes on; else `end` says how it ends. A pointer to a function of the program's may lead
 * elsewhere later, so it may wait. */
static bool follow_call_or_jump(struct way *way, const struct sc_instruction *read, enum end *end)
{
    uintptr_t target = target_of(read);
    enum manner manner = manner_of(target);
    bool is_call = read->way == SC_WAY_CALL;
    *end = manner == ENDS_THERE ? TRAP : MAY_WAIT;
    if (manner == ENDS_THERE || (manner == UNKNOWN && read->is_pointer))
        return false;
    if (manner != UNKNOWN) {
        note_call_of_libc(way, manner);
        way->pc += read->length;
        *end = RETURNS;
        return is_call || return_to_caller(way);
    }
    if (is_call && !push_return(way, way->pc + read->length))
        return false;
    way->pc = target;
    return true;
}

/* Returns 1 if the branch is certain to be taken on this path, 0 if certainly not, -1 if that is
 * not known. */
static int branch_taken(const struct way *way, enum sc_instruction_condition condition)
{
    switch (condition) {
    case SC_IF_EQUAL:
    case SC_IF_UNEQUAL:
        return way->knows_comparison ? way->is_equal == (condition == SC_IF_EQUAL) : -1;
    case SC_IF_ZERO:
    case SC_IF_NONZERO:
        return way->knows_result ? (way->result == 0) == (condition == SC_IF_ZERO) : -1;
    default:
        return -1;
    }
}

/* Follows both ways of a branch that is not known; of two ends the worse one counts. A branch after
 * a sleep with two ways to return may be a poll: the function may look again whether the program
 * has done something. */
static enum end follow_both(struct walk *walk, const struct way *way, uintptr_t target)
{
    struct way other = *way;
    other.pc = target;
    if (++walk->forks > FORKS_MAX)
        return MAY_WAIT;
    enum end end = follow_path(walk, *way);
    enum end others = end == MAY_WAIT ? MAY_WAIT : follow_path(walk, other);
    if (way->has_slept && end == RETURNS && others == RETURNS)
        return MAY_WAIT;
    return end > others ? end : others;
}

/* Follows the path through the code, instruction by instruction. Returns how it ends, or the worst
 * end of those that branch off. Unknown instructions, and more than STEPS_MAX steps (a loop), count
 * as a wait. */
static enum end follow_path(struct walk *walk, struct way way)
{
    enum end end;
    while (walk->steps++ < STEPS_MAX) {
        struct sc_instruction read = instruction_at(walk, way.pc);
        switch (read.way) {
        case SC_WAY_ON:
            note_result_and_comparison(&way, &read);
            way.pc += read.length;
            break;
        case SC_WAY_CALL:
        case SC_WAY_JUMP:
            if (!follow_call_or_jump(&way, &read, &end))
                return end;
            break;
        case SC_WAY_BRANCH: {
            int taken = branch_taken(&way, read.condition);
            way.pc += taken == 1 ? read.target - way.pc : read.length;
            if (taken < 0)
                return follow_both(walk, &way, read.target);
            break;
        }
        case SC_WAY_RETURN:
            if (!return_to_caller(&way))
                return RETURNS;
            break;
        case SC_WAY_TRAP:
            return TRAP;
        default:
            return MAY_WAIT;
        }
    }
    return MAY_WAIT;
}

struct question { /* for answer_question, perhaps on another stack */
    uintptr_t function;
    bool is_plain;
};

/* Walks through the function's code, and stores whether each path returns without a wait. */
static void answer_question(void *argument)
{
    struct question *question = argument;
    struct walk walk = {.steps = 0};
    question->is_plain = follow_path(&walk, (struct way){.pc = question->function}) == RETURNS;
}

/* Does the function's code show that it can wait for nobody (plain)? The walk needs more stack than
 * a thread of the driver's may have, so it takes a spare one. 0 is no function. */
bool sc_plain_functions_is_one(uintptr_t function)
{
    struct question question = {.function = function};
    if (!function)
        return false;
    if (sc_spare_stack_is_current())
        answer_question(&question);
    else
        sc_spare_stack_make_room(answer_question, &question);
    return question.is_plain;
}
