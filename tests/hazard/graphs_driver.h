/* For the twins that build graphs by the driver API. */
#ifndef SC_TESTS_HAZARD_GRAPHS_DRIVER_H
#define SC_TESTS_HAZARD_GRAPHS_DRIVER_H

#include "twin_driver.h"

static TWIN_HELPER void driver_replay(CUgraphExec exec, CUstream stream)
{
    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuStreamSynchronize(stream));
}

#endif
