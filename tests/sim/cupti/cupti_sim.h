/* What the files of the simulated libcupti share. */
#ifndef CUPTI_SIM_H
#define CUPTI_SIM_H

/* "cuMemcpyHtoDAsync_v2" for a callback id of the driver domain; NULL where there is none. */
const char *cupti_sim_driver_name(unsigned cbid);

#endif
