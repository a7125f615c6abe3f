#include "interpose/driver/replaying.h"

#include "cupti_hooks/current_call.h"
#include "interpose/base/process.h"
#include "report/options.h"

#include "common/poison.h"

__thread struct sc_replaying sc_replaying;

/* Stands for the driver's function in a replay, which runs a wrapper after the fact: returns the
 * answer that the driver has given. Under that call's id the wrapper then finds what CUPTI measures
 * of it. */
CUresult sc_replaying_answer(void)
{
    sc_current_call.correlation_id = sc_replaying.correlation_id;
    return sc_replaying.answer;
}

/* May a call that would break a capture be made in a way that does not? As the options say; but not
 * in a replay, in which the driver makes the call without the wrapper. */
bool sc_captures_are_repaired(void)
{
    return sc_options.mode == SC_MODE_FIX && sc_options.capture == SC_CAPTURE_REPAIR &&
           !sc_replaying_is_on();
}
