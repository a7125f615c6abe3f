#include "interpose/guard/page_access.h"

#include "common/pages.h"
#include "interpose/base/mappings.h"
#include "interpose/guard/guarded_ranges.h"
#include "interpose/guard/page_protection.h"
#include "interpose/guard/userfaults.h"
#include "interpose/memory/areas.h"

#include "common/poison.h"

/* Sets the program's access to pages; returns 0 or -errno. The library's own pinned memory (areas
 * with a lock of their own) is guarded by userfaultfd or mprotect, which userfaults.c knows; all
 * other memory by mprotect. Protected ranges are counted for the summary. */
int sc_page_access_set(uintptr_t address, size_t size_bytes, enum sc_access access)
{
    if (size_bytes == 0)
        return 0;
    if (sc_areas_have_stripe(address))
        return sc_userfaults_set(address, size_bytes, access);
    int result = sc_page_protection_set(address, size_bytes, access);
    if (result == 0 && access != SC_ACCESS_ALL)
        sc_guarded_ranges_note(address, false);
    return result;
}

/* Would such a touch of the address fault now? Linux is asked, since the program may have set the
 * access itself. */
bool sc_page_access_denies(uintptr_t address, enum sc_touch touch)
{
    return !sc_mappings_allow(address, touch == SC_TOUCH_WRITE);
}
