#include "interpose/driver/replaying.h"

#include "cupti_hooks/current_call.h"
#include "interpose/base/process.h"
#include "report/options.h"

#include "common/poison.h"

__thread struct sc_replaying sc_replaying;

CUresult sc_replaying_answer(void)
{
    sc_current_call.correlation_id = sc_replaying.correlation_id;
    return sc_replaying.answer;
}

bool sc_captures_are_repaired(void)
{
    return sc_options.mode == SC_MODE_FIX && sc_options.capture == SC_CAPTURE_REPAIR &&
           !sc_replaying_is_on();
}
