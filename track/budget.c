#include "track/budget.h"

#include "common/poison.h"

/* Times, as seconds or as parts of a second. */
enum { BURSTS_PER_SECOND = 1, DEBT_SECONDS = 10, REFUSED_MAXES_PER_SECOND = 4, PROBES_MAX = 16 };

/* Initialises the budget: how much time may be spent on protecting pages. `left` counts ticks times
 * SC_BUDGET_WHOLE, so that `share` is what one tick earns. At most a second's earnings are saved
 * (`burst`), at most ten seconds' owed (`debt`), and no call site goes unprotected for more than a
 * quarter of a second. */
void sc_budget_start(struct sc_budget *budget, uint32_t share, uint64_t ticks_per_second,
                     uint64_t now)
{
    budget->share = share;
    budget->burst = (int64_t)(share * ticks_per_second / BURSTS_PER_SECOND);
    budget->debt = -(int64_t)(share * ticks_per_second * DEBT_SECONDS);
    budget->refused_max_ticks = ticks_per_second / REFUSED_MAXES_PER_SECOND;
    budget->now = budget->round_began = now;
    budget->round = 1;
}

/* ---- sites ---- */

/* Spreads the keys of call sites (addresses or small numbers) over the table. */
static uint64_t hash_key(uint64_t key)
{
    key *= UINT64_C(0x9e3779b97f4a7c15);
    return key ^ key >> 32;
}

/* Returns the record of the call site, made if it is new. If all of its PROBES_MAX places are
 * taken, returns the record that further sites share. */
static struct sc_budget_site *find_locked(struct sc_budget *budget, uint64_t key, uint32_t stack)
    SC_REQUIRES(budget->lock)
{
    SC_ASSERT_HELD(&budget->lock);
    for (uint64_t slot = hash_key(key), probes = 0; probes < PROBES_MAX; slot++, probes++) {
        struct sc_budget_site *site = &budget->sites[slot % SC_BUDGET_SITES];
        if (site->key == key)
            return site;
        if (site->key)
            continue;
        site->stack = stack;
        site->key = key;
        return site;
    }
    return &budget->others;
}

/* ---- time ---- */

/* Adds the time that was earned since the last call, and subtracts what protecting pages took
 * meanwhile, within the limits of saving and owing. `now` may be earlier than at the last call, as
 * the clocks of two processors may differ a little. */
static void earn_locked(struct sc_budget *budget, uint64_t now) SC_REQUIRES(budget->lock)
{
    SC_ASSERT_HELD(&budget->lock);
    uint64_t passed = now > budget->now ? now - budget->now : 0;
    uint64_t paid = atomic_exchange_explicit(&budget->unpaid, 0, memory_order_relaxed);
    __int128 left = (__int128)budget->left + (__int128)passed * budget->share -
                    (__int128)paid * SC_BUDGET_WHOLE;
    left = left < budget->debt ? budget->debt : left;
    budget->left = (int64_t)(left > budget->burst ? budget->burst : left);
    budget->now += passed;
}

/* ---- turns ---- */

/* An operation of the site is not protected. Sites that had their turn in this round then wait for
 * this one. A site that had its own turn, or is counted already, changes nothing. */
static void count_refusal_locked(struct sc_budget *budget, struct sc_budget_site *site)
    SC_REQUIRES(budget->lock)
{
    SC_ASSERT_HELD(&budget->lock);
    if (!site->refused_since)
        site->refused_since = budget->now;
    if (site->round == budget->round || site->refused_in == budget->round)
        return;
    site->refused_in = budget->round;
    budget->refused_sites++;
}

/* Has the site been refused for so long that its operation is protected on credit, so that no site
 * is left out for good? */
static bool was_refused_too_long(const struct sc_budget *budget, const struct sc_budget_site *site)
{
    return site->refused_since && budget->now - site->refused_since > budget->refused_max_ticks;
}

/* Is it the site's turn? Sites take turns in rounds: one that had its turn waits for refused ones,
 * unless the round lasts too long; then a new round begins here. */
static bool take_turn_locked(struct sc_budget *budget, const struct sc_budget_site *site)
    SC_REQUIRES(budget->lock)
{
    SC_ASSERT_HELD(&budget->lock);
    if (site->round != budget->round)
        return true;
    if (budget->refused_sites && budget->now - budget->round_began <= budget->refused_max_ticks)
        return false;
    budget->round++;
    budget->round_began = budget->now;
    budget->refused_sites = 0;
    return true;
}

/* Gives up, in half of the cases, the chance of a site that was refused. Else, of two operations
 * that alternate at one site, always the same one might be protected. */
static bool is_skipped_at_random_locked(struct sc_budget *budget, const struct sc_budget_site *site)
    SC_REQUIRES(budget->lock)
{
    SC_ASSERT_HELD(&budget->lock);
    budget->random_state =
        budget->random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return site->refused_since && budget->random_state >> 63;
}

/* Is an operation of this site to be protected? The first ones of each site are, so that every
 * mistake has a chance; then those of a site that was refused too long; else as time and turns
 * allow. */
static bool allows_locked(struct sc_budget *budget, struct sc_budget_site *site)
    SC_REQUIRES(budget->lock)
{
    SC_ASSERT_HELD(&budget->lock);
    bool is_new = site->guarded < SC_BUDGET_FIRST;
    bool on_credit = budget->left > -budget->burst && was_refused_too_long(budget, site);
    return is_new || on_credit ||
           (budget->left > 0 && !is_skipped_at_random_locked(budget, site) &&
            take_turn_locked(budget, site));
}

/* Decides whether the pages of this operation are protected, within the time that the option
 * guard_budget leaves, and counts it for its call site. */
bool sc_budget_allows(struct sc_budget *budget, uint64_t key, uint32_t stack, uint64_t now)
{
    SC_LOCKED_BRIEFLY(&budget->lock);
    struct sc_budget_site *site = find_locked(budget, key, stack);
    earn_locked(budget, now);
    bool allowed = allows_locked(budget, site);
    site->operations++;
    site->guarded += allowed;
    if (!allowed) {
        count_refusal_locked(budget, site);
    } else {
        /* A site that was refused in this round waits no more. */
        budget->refused_sites -= site->refused_in == budget->round && site->round != budget->round;
        site->round = budget->round;
        site->refused_since = 0;
    }
    return allowed;
}

/* ---- what reports read ---- */

/* Sorts sites for the report: those with more unprotected operations come first. */
static bool comes_before(const struct sc_budget_site *a, const struct sc_budget_site *b)
{
    return a->operations - a->guarded > b->operations - b->guarded;
}

/* Inserts the site into the sorted list of at most `room` sites, where it pushes out the last one
 * if the list is full. Returns how many there are then. */
static unsigned insert_site(struct sc_budget_site *sites, unsigned count, unsigned room,
                            const struct sc_budget_site *site)
{
    unsigned at = count < room ? count : room;
    if (at == room && (room == 0 || !comes_before(site, &sites[room - 1])))
        return count;
    at -= at == room;
    for (; at > 0 && comes_before(site, &sites[at - 1]); at--)
        sites[at] = sites[at - 1];
    sites[at] = *site;
    return count < room ? count + 1 : count;
}

/* For the report: sums up what was protected, and finds the call sites with the most operations
 * that were not. */
unsigned sc_budget_read(const struct sc_budget *budget, struct sc_budget_site *totals,
                        struct sc_budget_site *sites, unsigned room)
{
    unsigned count = 0;
    *totals = (struct sc_budget_site){0};
    for (unsigned i = 0; i <= SC_BUDGET_SITES; i++) {
        const struct sc_budget_site *site =
            i < SC_BUDGET_SITES ? &budget->sites[i] : &budget->others;
        if (site->operations == 0)
            continue;
        totals->operations += site->operations;
        totals->guarded += site->guarded;
        count = insert_site(sites, count, room, site);
    }
    return count;
}
