#include "report/guard_part.h"

#include "common/text.h"
#include "report/json.h"
#include "report/options.h"
#include "report/userfaultfd.h"

#include <string.h>

#include "common/poison.h"

/* RESERVE is room for the rest of the line. No value of `guard` or `guard_budget` is longer than
 * OPTION_VALUE_BYTES. */
enum { RESERVE = 8 * 1024, OPTION_VALUE_BYTES = 32 };

/* Writes member `name` with the value that the option `wanted` has in this run. */
static void put_option(struct sc_text *line, const char *name, const struct sc_options *options,
                       const char *wanted)
{
    char value[OPTION_VALUE_BYTES];
    const char *key;
    for (unsigned i = 0; (key = sc_options_get(options, i, value, sizeof value)) != NULL; i++)
        if (strcmp(key, wanted) == 0)
            sc_json_put(line, "%s:%s", name, value);
}

/* Copies the call sites of copies with their counts, and finds the names of their stacks' frames.
 * Called before the report's lock is taken, since names take long and need the loader's lock. */
void sc_guard_part_name_sites(const struct sc_budget *budget, struct sc_guard_part_sites *sites)
{
    sites->count = sc_budget_read(budget, &sites->totals, sites->sites, SC_GUARD_PART_SITES_MAX);
    for (unsigned i = 0; i < sites->count; i++) {
        const struct sc_budget_site *site = &sites->sites[i];
        struct sc_json_lines_stack *stack = &sites->stacks[i];
        sc_json_lines_name_stack(site->stack, stack);
        if (site->stack || !site->key)
            continue;
        /* Stacks are off: the key is the address to which the call returns. */
        stack->count = 1;
        sc_report_symbolise((const void *)(uintptr_t)site->key, &stack->frames[0]);
    }
}

/* Lists the call sites with how many of their operations were guarded (had their pages protected).
 * The room that is left is shared among the stacks; sites that find none are left out. */
static void put_sites(struct sc_text *line, const struct sc_guard_part_sites *sites)
{
    sc_json_put(line, "sites:[");
    for (unsigned i = 0; i < sites->count; i++) {
        size_t before = line->used;
        sc_json_put(line, "{operations:%lu guarded:%lu", sites->sites[i].operations,
                    sites->sites[i].guarded);
        sc_json_lines_put_stack(line, &sites->stacks[i],
                                sc_json_lines_share(line, sites->count - i, RESERVE));
        sc_json_put(line, "}");
        if (!sc_json_lines_keep(line, before, RESERVE))
            break;
    }
    sc_json_put(line, "]");
}

/* Appends the member `guard` of a summary line. `sites` is NULL without the option guard_budget,
 * which limits how much time protecting pages may take: then all operations are guarded, and sites
 * tell nothing. */
void sc_guard_part_put(struct sc_text *line, const struct sc_options *options,
                       const struct sc_report_guard *guard, const struct sc_guard_part_sites *sites)
{
    sc_json_put(line, "guard:{");
    put_option(line, "option", options, "guard");
    sc_json_put(line, "mprotect:%lu userfaultfd:%lu userfaultfd_state:%s", guard->by_mprotect,
                guard->by_userfaultfd, sc_userfaultfd_name(guard->userfaultfd));
    if (sites) {
        sc_json_put(line, "budget:{");
        put_option(line, "share", options, "guard_budget");
        sc_json_put(line, "operations:%lu guarded:%lu", sites->totals.operations,
                    sites->totals.guarded);
        put_sites(line, sites);
        sc_json_put(line, "}");
    }
    sc_json_put(line, "}");
}
