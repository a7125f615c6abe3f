#include "interpose/driver/made_here.h"

#include "interpose/base/own_stack.h"
#include "interpose/base/unwind.h"
#include "interpose/driver/call.h"
#include "report/annotations.h"
#include "track/origins.h"

#include "tools/poison.h"

uint32_t sc_made_here(const struct sc_call *call)
{
    sc_own_stack_learn();
    uint32_t label = sc_annotations_label_here();
    return call->site ? sc_unwind_origin(call->api, call->site, label)
                      : sc_origins_put(call->api, 0, label);
}
