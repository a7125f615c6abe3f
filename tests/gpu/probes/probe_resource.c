/* probe_resource: asks libcupti and the CUDA driver about the resource and synchronise domains.
 *
 *     gcc -std=gnu11 -O2 -pthread -I/usr/local/cuda/include tests/gpu/probes/probe_resource.c \
 *         tests/gpu/probes/probe_resource/[a-z]*.c tests/gpu/asking*.c -o probe_resource -ldl
 * -lcuda
 *     ./probe_resource          every question, under 60 s
 *     ./probe_resource 12       these only
 *
 * Its questions go on where probe_cupti's end: Q10 graphs, Q11 contexts and streams, Q12 waits, Q13
 * costs, Q14 locks.
 *
 * PROBE_CUPTI names the libcupti to ask. Each question is answered in a child process that does its
 * own cuInit (asking.h). A line shows what was announced, in order:
 *
 *     name( ... )=r      a driver call and its result; what lies between was announced within it
 *     r12<g.. n.. ..>    resource callback 12: the handles are named as they were first seen
 *     sync1<c.. s..>     synchronise callback 1
 *     /busy /done        at a synchronise callback: has the work that the call waits for ended?
 *     !T                 announced on another thread than the call's
 */
#include "probe_resource/ear.h"

static const struct question questions[] = {
    {.name = "10", .ask = q10},
    {.name = "10", .ask = q10_inside},
    {.name = "10", .ask = q10_inside_capture},
    {.name = "11", .ask = q11_early},
    {.name = "11", .ask = q11_contexts},
    {.name = "11", .ask = q11_stream_busy},
    {.name = "11", .ask = q11_primary},
    {.name = "11", .ask = q11_runtime},
    {.name = "11", .ask = q11_green},
    {.name = "12", .ask = q12_plain},
    {.name = "12", .ask = q12_copies},
    {.name = "12", .ask = q12_frees},
    {.name = "12", .ask = q12_contexts},
    {.name = "13", .ask = q13},
    {.name = "13", .ask = q13_alone},
    {.name = "14", .ask = beside_stream_created},
    {.name = "14", .ask = beside_stream_destroyed},
    {.name = "14", .ask = beside_context_created},
    {.name = "14", .ask = beside_context_destroyed},
    {.name = "14", .ask = beside_graph_destroyed},
    {.name = "14", .ask = beside_node_created},
    {.name = "14", .ask = beside_exec_destroyed},
    {.name = "14", .ask = beside_stream_waited_for},
    {.name = "14", .ask = beside_context_waited_for},
    {.name = "14", .ask = beside_free},
};

int main(int argc, char **argv)
{
    static const struct inquiry inquiry = {
        .program = "probe_resource",
        .questions = questions,
        .count = COUNT(questions),
        .question_s = 12,
    };

    return ask_all(&inquiry, argc, argv);
}
