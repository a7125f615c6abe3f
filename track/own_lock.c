#include "track/own_lock.h"

#include "track/poison.h"

__thread int sc_own_lock_depth __attribute__((tls_model("initial-exec")));
__thread void (*sc_own_lock_left)(void) __attribute__((tls_model("initial-exec")));
