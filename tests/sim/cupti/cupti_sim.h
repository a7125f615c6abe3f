/* Tables shared by the files of the simulated libcupti; each ends with a NULL name. */
#ifndef CUPTI_SIM_H
#define CUPTI_SIM_H

struct cupti_sim_name {
    const char *name;
    int cbid;
};

extern const struct cupti_sim_name cupti_sim_legacy_names[];
extern const struct cupti_sim_name cupti_sim_per_thread_names[];

#endif
