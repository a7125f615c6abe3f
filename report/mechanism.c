#include "report/mechanism.h"

#include "track/poison.h"

/* guard=on leaves the choice to the library: it is mprotect. */
bool sc_mechanism_is_userfaultfd(enum sc_guard_mode guard)
{
    return guard == SC_GUARD_UFFD;
}
