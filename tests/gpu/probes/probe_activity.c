/* probe_activity: asks libcupti what its activity records say, when they come, and what they cost.
 *
 *     gcc -std=gnu11 -O2 -pthread -I/usr/local/cuda/include tests/gpu/probes/probe_activity.c \
 *         tests/gpu/probes/probe_activity/[a-z]*.c tests/gpu/asking*.c -o probe_activity -ldl
 * -lcuda
 *     ./probe_activity            every question, under 60 s
 *     ./probe_activity 2 5        these only
 *
 * PROBE_CUPTI names the libcupti to ask; else libcupti.so.13 is looked for in the usual places.
 * Each question is answered in a child process that does its own cuInit (asking.h). Driver results
 * are numbers, CUPTI results "CUPTI n".
 */
#include "probe_activity/records.h"

static const struct question questions[] = {
    {.name = "1", .ask = q1},
    {.name = "2", .ask = q2},
    {.name = "3", .ask = q3},
    {.name = "3", .ask = early},
    {.name = "4", .ask = q4},
    {.name = "4", .ask = early_clock},
    {.name = "5", .ask = q5},
    {.name = "5", .ask = lag},
    {.name = "6", .ask = q6},
    {.name = "6", .ask = flush_beside},
    {.name = "6", .ask = calls_beside_free},
    {.name = "6", .ask = calls_beside_flush},
    {.name = "7", .ask = q7},
    {.name = "8", .ask = q8},
    {.name = "8", .ask = yields_plainly},
    {.name = "8", .ask = yields_flushing},
    {.name = "8", .ask = comes_second},
    {.name = "9", .ask = fork_question},
    {.name = "9", .ask = exit_flushing},
    {.name = "9", .ask = exit_plainly},
    {.name = "10", .ask = q10},
    {.name = "10", .ask = q10_shared},
    {.name = "11", .ask = q11},
};

int main(int argc, char **argv)
{
    static const struct inquiry inquiry = {
        .program = "probe_activity",
        .questions = questions,
        .count = COUNT(questions),
        .question_s = 20,
    };

    return ask_all(&inquiry, argc, argv);
}
