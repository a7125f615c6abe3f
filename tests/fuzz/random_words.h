/* How random programs draw, and how is told what they do and what is wrong with them.
 *
 * Who includes it has a `world` with seed and random (the state of draw), thread, and correct (of
 * the program's class: nothing may be said of it). Include once.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_WORDS_H
#define SC_TESTS_FUZZ_RANDOM_WORDS_H

#include "random_codes.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

/* Over all programs: how many hazards must be reported, and how many may be. */
static unsigned long least[CODES], most[CODES];
static bool trace;

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
    va_list arguments;
    if (!trace)
        return;
    printf("  thread %d: ", world.thread);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    fflush(stdout);
}

static void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
static void fail(const char *format, ...)
{
    va_list arguments;
    printf("seed %llu: ", (unsigned long long)world.seed);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    fflush(stdout);
    _exit(1);
}

#define CHECK(call) check((call), #call)
static void check(CUresult result, const char *call)
{
    if (result != CUDA_SUCCESS)
        fail("%s returned %d", call, (int)result);
}

static uint64_t draw(void)
{
    uint64_t mixed = world.random += 0x9E3779B97F4A7C15u;
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
    return mixed ^ mixed >> 31;
}

static int below(int limit)
{
    return (int)(draw() % (unsigned)limit);
}

static bool one_in(int chances)
{
    return below(chances) == 0;
}

static void fill_random(unsigned char *bytes, size_t size_bytes)
{
    for (size_t i = 0; i < size_bytes; i++)
        bytes[i] = (unsigned char)(i % 8 ? bytes[i - i % 8] * 3 + i : draw());
}

static void compare(const char *what, int which, const unsigned char *found,
                    const unsigned char *expected, size_t size_bytes)
{
    for (size_t i = 0; i < size_bytes; i++)
        if (found[i] != expected[i])
            fail("%s %d: byte %zu of %zu is %02x, not %02x", what, which, i, size_bytes, found[i],
                 expected[i]);
}

static void tally(int code, bool sure)
{
    least[code] += sure;
    most[code]++;
    if (world.correct)
        fail("a hazard in a correct program");
}

/* Of a call by itself. */
static void expect_call(int code, bool sure)
{
    say("  %s: %s", sure ? "expected" : "possible", code_names[code]);
    tally(code, sure);
}

#endif
