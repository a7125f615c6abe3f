/* Rows of a table of answers, `section | call | variant | answer`, for programs of the driver API.
 * "blocks": what keeps a stream busy was over when the call returned. */
#ifndef SC_TESTS_GPU_ROWS_H
#define SC_TESTS_GPU_ROWS_H

#include <cuda.h>
#include <stdio.h>

#define BUSY_MS 150
#include "held_up.h"

static const char *section;

/* The first call of a row that failed although the row needs it; 0 when all went well. */
static int setup_error;
static const char *setup_call;

static void need(CUresult result, const char *call)
{
    if (result == CUDA_SUCCESS || setup_error)
        return;
    setup_error = (int)result;
    setup_call = call;
}
#define NEED(call) need(call, #call)

static void say(const char *call, const char *variant, const char *answer)
{
    if (setup_error)
        printf("%s | %s | %s | error %d of %.40s\n", section, call, variant, setup_error,
               setup_call);
    else
        printf("%s | %s | %s | %s\n", section, call, variant, answer);
    fflush(stdout);
    setup_error = 0;
}

#endif
