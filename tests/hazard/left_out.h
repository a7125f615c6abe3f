/* For the twins of SC305: work beside a capture, and launches that lack it.
 *
 * Nothing is healed: a racy build is right if its later launches saw what the first one saw, which
 * is what goes wrong.
 */
#ifndef SC_TESTS_HAZARD_LEFT_OUT_H
#define SC_TESTS_HAZARD_LEFT_OUT_H

#include "capture.h"

#include "kernel.h"

enum { NEXT = 51 }; /* the seed of what a later launch should see */

/* The source is uploaded again for a later launch: seen only where the upload is in the graph. */
static TWIN_HELPER bool second_launch_sees(cudaGraphExec_t exec, cudaStream_t stream, void *source,
                                           const void *result)
{
    replay(exec, stream);
    bool first = device_holds(result, SMALL, WANTED);
    fill(source, SMALL, NEXT);
    replay(exec, stream);
    return first && device_holds(result, SMALL, fixed ? NEXT : WANTED);
}

#endif
