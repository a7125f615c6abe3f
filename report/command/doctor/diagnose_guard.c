#include "report/command/doctor/diagnosis.h"

#include "report/mechanism.h"

#include <string.h>

static const char section[] = "guard";

#define OK(id, ...) sc_diagnosis_add(diagnosis, SC_LEVEL_OK, section, id, NULL, __VA_ARGS__)
#define NOTE(id, remedy, ...)                                                                      \
    sc_diagnosis_add(diagnosis, SC_LEVEL_NOTE, section, id, remedy, __VA_ARGS__)

/* Do the findings so far say that there are huge pages, in which the library could serve pinned
 * memory? */
static bool has_huge_pages(const struct sc_diagnosis *diagnosis)
{
    for (size_t i = 0; i < diagnosis->count; i++)
        if (strcmp(diagnosis->findings[i].id, "huge-pages") == 0)
            return true;
    return false;
}

static const char *name_of(enum sc_guard_mode guard)
{
    static const char *const names[] = {[SC_GUARD_OFF] = "off",
                                        [SC_GUARD_ON] = "on",
                                        [SC_GUARD_UFFD] = "uffd",
                                        [SC_GUARD_MPROTECT] = "mprotect"};
    return names[guard];
}

/* Adds findings that say why mprotect guards all memory, and whether userfaultfd could do some of
 * it. */
static void say_unchosen(struct sc_diagnosis *diagnosis, const struct sc_machine_facts *facts)
{
    bool is_for_swap = facts->settings.mechanism == SC_MECHANISM_MPROTECT_FOR_SWAP;
    if (facts->settings.mechanism == SC_MECHANISM_MPROTECT)
        OK("guard-mprotect", "mprotect keeps off all memory in flight, as guard=mprotect asks");
    else if (facts->plain.userfaultfd == SC_USERFAULTFD_OPENED)
        NOTE("guard-could-be-userfaultfd",
             is_for_swap ? "swapoff -a (as root), or guard=uffd" : "guard=uffd",
             "mprotect keeps off all memory in flight, since %s (guard=on); for pinned memory "
             "userfaultfd is to be had",
             is_for_swap ? "this machine has swap" : "there is a seccomp filter");
    else
        NOTE("guard-mprotect-alone", sc_userfaultfd_remedy(facts->plain.userfaultfd),
             "mprotect keeps off all memory in flight; userfaultfd is not to be had: %s",
             sc_userfaultfd_words(facts->plain.userfaultfd));
}

/* Adds findings that say by which mechanism memory in flight is guarded here, and why not by the
 * better one. */
void sc_diagnosis_of_guard(struct sc_diagnosis *diagnosis, const struct sc_machine_facts *facts)
{
    enum sc_guard_mode guard = facts->settings.guard;
    enum sc_userfaultfd_state state = facts->plain.userfaultfd;
    enum sc_mechanism mechanism = facts->settings.mechanism;
    if (guard == SC_GUARD_OFF)
        NOTE("guard-off", "Take guard=off out of SAFECOPY_OPTIONS",
             "guard=off: no page is kept off, so touches that come too early are not found");
    else if (state == SC_USERFAULTFD_UNASKED)
        NOTE("guard-unknown", NULL,
             "userfaultfd was not asked for, since the process ended before");
    else if (mechanism != SC_MECHANISM_USERFAULTFD)
        say_unchosen(diagnosis, facts);
    else if (state != SC_USERFAULTFD_OPENED)
        NOTE("guard-no-userfaultfd", sc_userfaultfd_remedy(state),
             "mprotect keeps off all memory in flight, for userfaultfd is not to be had: %s",
             sc_userfaultfd_words(state));
    else if (!facts->settings.serves_pinned || !has_huge_pages(diagnosis))
        NOTE("guard-nothing-served", "pinned=huge, and huge pages (see memory above)",
             "mprotect keeps off all memory in flight: userfaultfd is to be had, and is for pinned "
             "memory that the library serves, which here is the driver's");
    else
        OK("guard-userfaultfd",
           "userfaultfd keeps off pinned memory (guard=%s), and mprotect all other memory",
           name_of(guard));
}
