/* probe_cupti: asks libcupti and the CUDA driver how callbacks really behave.
 *
 *     gcc -std=gnu11 -O2 -pthread -I/usr/local/cuda/include tests/gpu/probes/probe_cupti.c \
 *         tests/gpu/probes/probe_cupti/[a-z]*.c tests/gpu/asking*.c -o probe_cupti -ldl -lcuda
 *     ./probe_cupti            every question, under 60 s
 *     ./probe_cupti 2 5        these only
 *
 * PROBE_CUPTI names the libcupti to ask, PROBE_CUPTI_2 a second one of another version (Q9); else
 * libcupti.so.13 is looked for in the usual places. Each question is answered in a child process
 * that does its own cuInit (asking.h). Driver results are numbers, CUPTI results "CUPTI n". Times
 * of calls are the best of several rounds.
 */
#include "probe_cupti/ear.h"

static const struct question questions[] = {
    {.name = "1", .ask = q1}, {.name = "1", .ask = early}, {.name = "2", .ask = q2},
    {.name = "3", .ask = q3}, {.name = "4", .ask = q4},    {.name = "5", .ask = q5},
    {.name = "6", .ask = q6}, {.name = "7", .ask = q7},    {.name = "8", .ask = q8},
    {.name = "9", .ask = q9},
};

int main(int argc, char **argv)
{
    static const struct inquiry inquiry = {
        .program = "probe_cupti",
        .questions = questions,
        .count = COUNT(questions),
        .question_s = 20,
    };

    return ask_all(&inquiry, argc, argv);
}
