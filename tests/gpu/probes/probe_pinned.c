/* probe_pinned: asks the CUDA driver what its pinned and registered host memory is like.
 *
 *     gcc -std=gnu11 -O2 -pthread -I/usr/local/cuda/include tests/gpu/probes/probe_pinned.c \
 *         tests/gpu/probes/probe_pinned/[a-z]*.c tests/gpu/asking.c -o probe_pinned -ldl -lcuda
 *     ./probe_pinned            every section, under a minute
 *     ./probe_pinned layout     these only
 *
 * interpose/memory/pinned.c serves pinned allocations from registered memory and has to answer for
 * them as the driver does for its own; here is what that means. Each section is a question of
 * asking.h.
 *
 * A set of answers that several pointers give alike is printed once, under a letter. In it,
 * "+n" is an address n bytes behind the buffer's first, "same" the one asked for, S the size that
 * was asked for, A and B the two contexts, id an identifier other than 0, and e<n> an error.
 */
#include "probe_pinned/world.h"

CUcontext context_a;
CUcontext context_b;

static CUresult set_up(void)
{
    CUresult rc = TRY(cuInit(0));

    if (rc != CUDA_SUCCESS || (rc = TRY(cuDeviceGet(&device, 0))) != CUDA_SUCCESS)
        return rc;
    context_a = make_context();
    return context_a ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

static const struct question sections[] = {
    {.name = "machine", .ask = section_machine},
    {.name = "attributes", .ask = section_attributes},
    {.name = "contexts", .ask = section_contexts},
    {.name = "fork", .ask = section_fork},
    {.name = "layout", .ask = section_layout},
    {.name = "times", .ask = section_times},
    {.name = "mprotect", .ask = section_mprotect},
    {.name = "bandwidth", .ask = section_bandwidth},
    {.name = "waits", .ask = section_waits},
    {.name = "memlock", .ask = section_memlock},
    {.name = "errors", .ask = section_errors},
};

int main(int argc, char **argv)
{
    static const struct inquiry inquiry = {
        .program = "probe_pinned",
        .questions = sections,
        .count = COUNT(sections),
        .set_up = set_up,
        .question_s = 25,
        .in_sections = true,
    };

    return ask_all(&inquiry, argc, argv);
}
