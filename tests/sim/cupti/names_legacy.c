#define NAMES cupti_sim_legacy_names
#include "driver_names.h"
