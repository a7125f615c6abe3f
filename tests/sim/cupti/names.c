/* Names of the driver domain's callback ids. cuda.h must not be seen here: it renames functions to
 * their newest versions. */
#include "cupti_sim.h"

#include <cupti_driver_cbid.h>

#include "../cuda/newer_id.h"
#include "interpose/driver/newer_ids.h"

#define SIM_FUNCTION(symbol, base, version, variant) [CUPTI_DRIVER_TRACE_CBID_##symbol] = #symbol,
#define SIM_STUB SIM_FUNCTION

static const char *const names[] = {
#include "../cuda/driver.def"
};

const char *cupti_sim_driver_name(unsigned cbid)
{
    return cbid < sizeof names / sizeof names[0] ? names[cbid] : 0;
}
