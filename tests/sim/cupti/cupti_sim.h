/* What the files of the simulated libcupti share. */
#ifndef CUPTI_SIM_H
#define CUPTI_SIM_H

#include <stdint.h>

struct sim_activity_hooks;

/* "cuMemcpyHtoDAsync_v2" for a callback id of the driver domain; NULL where there is none. */
const char *cupti_sim_driver_name(unsigned cbid);

/* Does SIM_CUPTI say so? */
int cupti_sim_is_asked_to_be(const char *way);

/* Finds the simulated driver; false if there is none. */
int cupti_sim_find(void);

/* The number of the driver call under way on this thread, 0 without one. */
uint32_t cupti_sim_correlation_id(void);

/* Has the device tell of its work. With `on`, driver calls have numbers without a subscriber, too.
 */
void cupti_sim_record(const struct sim_activity_hooks *hooks, int on);

/* Waits for the current context, if there is one. */
void cupti_sim_synchronise(void);

/* activity.c: a driver call returns on this thread. */
void cupti_sim_call_ended(void);

#endif
