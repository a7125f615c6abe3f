#include "interpose/replaying.h"

#include "cupti_hooks/ear.h"
#include "interpose/process.h"

#include "track/poison.h"

__thread struct sc_following sc_following;

CUresult sc_follow_answer(void)
{
    sc_ear.correlation_id = sc_following.correlation_id;
    return sc_following.answer;
}

bool sc_captures_are_repaired(void)
{
    return sc_options.mode == SC_MODE_FIX && sc_options.capture == SC_CAPTURE_REPAIR &&
           !sc_follows();
}
