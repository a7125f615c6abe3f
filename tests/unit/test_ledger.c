/* The ledger of memory: what is held, at the peak too, by whom, and what becomes of frees that the
 * driver refuses or that others overtake. */
#include "common/own_pages.h"
#include "common/pool.h"
#include "ledger/accounts.h"
#include "ledger/ledger.h"
#include "ledger/ledger_index.h"
#include "ledger/ledger_internal.h"
#include "ledger/statement.h"
#include "track/origins.h"

#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KB = 1 << 10, MB = 1 << 20, CONTEXT = 3, OTHER = 4, ONE = 11, TWO = 12, THREE = 13 };

static struct sc_ledger *ledger;
static struct sc_statement statement;

static void set_up(void)
{
    ledger = sc_pages_map(sizeof *ledger);
    ck_assert_ptr_nonnull(ledger);
}

/* Frees the parts of the table, of which each after the first has as many cells as all before it,
 * and the entries. */
static void destroy_index(struct sc_ledger_index *index)
{
    for (unsigned part = 0; part < SC_LEDGER_PARTS && index->parts[part]; part++) {
        size_t before = part ? (size_t)1 << (SC_LEDGER_CELLS_SHIFT + part - 1) : 0;
        size_t cells = part ? before : (size_t)1 << SC_LEDGER_CELLS_SHIFT;
        sc_pages_unmap((void *)(index->parts[part] + before * sizeof(uint32_t)),
                       cells * sizeof(uint32_t));
    }
    sc_pool_destroy(&index->entries);
}

static void tear_down(void)
{
    destroy_index(&ledger->index);
    for (unsigned i = 0; i < SC_LEDGER_PLACES; i++)
        sc_accounts_destroy(&ledger->places[i]);
    sc_pages_unmap(ledger, sizeof *ledger);
}

static void give(enum sc_ledger_kind kind, uint64_t name, uint64_t bytes, uint32_t origin)
{
    sc_ledger_given(ledger, &(const struct sc_ledger_block){.space = SC_LEDGER_ADDRESS,
                                                            .kind = kind,
                                                            .name = name,
                                                            .size_bytes = bytes,
                                                            .context = CONTEXT,
                                                            .origin = origin});
}

static void give_in(enum sc_ledger_space space, enum sc_ledger_kind kind, uint64_t name,
                    uint64_t bytes, uint64_t of)
{
    sc_ledger_given(ledger, &(const struct sc_ledger_block){.space = space,
                                                            .kind = kind,
                                                            .name = name,
                                                            .size_bytes = bytes,
                                                            .of = of,
                                                            .origin = ONE});
}

static struct sc_ledger_leaving leaving;
static uint64_t number; /* of the latest free */

static bool leaves(enum sc_ledger_space space, uint64_t name)
{
    return sc_ledger_leaves(ledger, space, name, &leaving);
}

/* Of an address that is mostly a pool's. */
static bool leaves_pool(uint64_t name)
{
    return sc_ledger_leaves_of_pool(ledger, name, &leaving, &number);
}

static void refuse(void)
{
    sc_ledger_refused(ledger, &leaving);
}

static bool take_from(enum sc_ledger_space space, uint64_t name)
{
    struct sc_ledger_leaving taken = {.was.name = 0};
    return sc_ledger_leaves(ledger, space, name, &taken);
}

static bool take(uint64_t name)
{
    return take_from(SC_LEDGER_ADDRESS, name);
}

static const struct sc_statement_place *draw(unsigned place)
{
    sc_statement_draw(ledger, &statement);
    return &statement.places[place];
}

static uint64_t held(enum sc_ledger_kind kind)
{
    return draw(0)->kinds[kind].bytes;
}

static const struct sc_statement_account *account_of(enum sc_ledger_kind kind, uint32_t origin)
{
    for (unsigned i = 0; i < statement.account_count; i++)
        if (statement.accounts[i].origin == origin && statement.accounts[i].kind == kind)
            return &statement.accounts[i];
    ck_abort_msg("no such account");
}

START_TEST(what_is_given_is_held_until_it_is_taken)
{
    give(SC_LEDGER_DEVICE, 0x1000, 3 * MB, ONE);
    give(SC_LEDGER_DEVICE, 0x2000, 100, ONE);
    give(SC_LEDGER_MANAGED, 0x3000, 7 * MB, TWO);
    ck_assert_uint_eq(held(SC_LEDGER_DEVICE), 3 * MB + 100);
    ck_assert_uint_eq(statement.places[0].backed_bytes, 6 * MB);
    ck_assert_uint_eq(statement.places[0].kinds[SC_LEDGER_DEVICE].blocks, 2);
    ck_assert_uint_eq(statement.places[0].all.bytes, 3 * MB + 100); /* managed is none of it */
    ck_assert(take(0x1000));
    ck_assert_uint_eq(held(SC_LEDGER_DEVICE), 100);
    ck_assert_uint_eq(statement.places[0].backed_bytes, 2 * MB);
    ck_assert_uint_eq(statement.places[0].kinds[SC_LEDGER_DEVICE].peak_bytes, 3 * MB + 100);
    ck_assert(!take(0x1000));
    ck_assert_uint_eq(held(SC_LEDGER_DEVICE), 100);
}
END_TEST

START_TEST(who_held_what_at_the_peak_is_kept_when_it_is_over)
{
    give(SC_LEDGER_DEVICE, 1, 5 * MB, ONE);
    give(SC_LEDGER_DEVICE, 2, 3 * MB, TWO);
    take(1);
    take(2);
    give(SC_LEDGER_DEVICE, 3, 6 * MB, THREE);
    draw(0);
    ck_assert_uint_eq(statement.places[0].all.peak_bytes, 8 * MB);
    ck_assert_uint_eq(account_of(SC_LEDGER_DEVICE, ONE)->peak_bytes, 5 * MB);
    ck_assert_uint_eq(account_of(SC_LEDGER_DEVICE, TWO)->peak_bytes, 3 * MB);
    ck_assert_uint_eq(account_of(SC_LEDGER_DEVICE, THREE)->peak_bytes, 0);
    ck_assert_uint_eq(account_of(SC_LEDGER_DEVICE, THREE)->bytes, 6 * MB);
    give(SC_LEDGER_DEVICE, 4, 4 * MB, ONE); /* a new peak */
    draw(0);
    ck_assert_uint_eq(statement.places[0].all.peak_bytes, 10 * MB);
    ck_assert_uint_eq(account_of(SC_LEDGER_DEVICE, ONE)->peak_bytes, 4 * MB);
    ck_assert_uint_eq(account_of(SC_LEDGER_DEVICE, THREE)->peak_bytes, 6 * MB);
    ck_assert_uint_eq(account_of(SC_LEDGER_DEVICE, ONE)->ever_bytes, 9 * MB);
    for (unsigned i = 0; i < statement.account_count; i++)
        ck_assert_uint_ne(statement.accounts[i].origin, TWO); /* neither now nor then */
}
END_TEST

START_TEST(a_free_that_the_driver_refuses_changes_nothing)
{
    give(SC_LEDGER_PINNED, 1, 5 * MB, ONE);
    ck_assert(leaves(SC_LEDGER_ADDRESS, 1));
    ck_assert_uint_eq(held(SC_LEDGER_PINNED), 0);
    ck_assert(!take(1)); /* another thread's */
    refuse();
    ck_assert_uint_eq(held(SC_LEDGER_PINNED), 5 * MB);
    ck_assert_uint_eq(account_of(SC_LEDGER_PINNED, ONE)->ever_bytes, 5 * MB);
    ck_assert(take(1));
    ck_assert_uint_eq(held(SC_LEDGER_PINNED), 0);
    ck_assert_uint_eq(draw(0)->kinds[SC_LEDGER_PINNED].blocks, 0);
}
END_TEST

START_TEST(a_block_that_is_handed_out_during_a_free_is_another_one)
{
    give(SC_LEDGER_DEVICE, 1, 5 * MB, ONE);
    ck_assert(leaves(SC_LEDGER_ADDRESS, 1));
    give(SC_LEDGER_DEVICE, 1, 2 * MB, TWO);
    ck_assert_uint_eq(held(SC_LEDGER_DEVICE), 2 * MB);
    ck_assert_uint_eq(statement.places[0].all.peak_bytes, 5 * MB);
    ck_assert(take(1));
    ck_assert_uint_eq(held(SC_LEDGER_DEVICE), 0);
}
END_TEST

START_TEST(who_frees_what_another_thread_was_handed_meanwhile_knows_its_own)
{
    give(SC_LEDGER_DEVICE, 1, 5 * MB, ONE);
    ck_assert(leaves(SC_LEDGER_ADDRESS, 1));
    give(SC_LEDGER_DEVICE, 1, 2 * MB, TWO);
    ck_assert(take(1)); /* the other thread's, which the first one's answer overtakes */
    give(SC_LEDGER_DEVICE, 1, 3 * MB, THREE);
    refuse();
    ck_assert_uint_eq(held(SC_LEDGER_DEVICE), 3 * MB);
    ck_assert(take(1));
    ck_assert_uint_eq(held(SC_LEDGER_DEVICE), 0);
}
END_TEST

START_TEST(a_block_whose_context_ends_meanwhile_does_not_come_back)
{
    give(SC_LEDGER_DEVICE, 1, 5 * MB, ONE);
    ck_assert(leaves(SC_LEDGER_ADDRESS, 1));
    sc_ledger_end_context(ledger, OTHER);
    refuse();
    ck_assert_uint_eq(held(SC_LEDGER_DEVICE), 5 * MB);
    ck_assert(leaves(SC_LEDGER_ADDRESS, 1));
    sc_ledger_end_context(ledger, CONTEXT);
    refuse();
    ck_assert_uint_eq(held(SC_LEDGER_DEVICE), 0);
    give(SC_LEDGER_DEVICE, 1, 2 * MB, ONE); /* of a later context of that number */
    ck_assert(leaves(SC_LEDGER_ADDRESS, 1));
    refuse();
    ck_assert_uint_eq(held(SC_LEDGER_DEVICE), 2 * MB);
}
END_TEST

START_TEST(a_pools_block_comes_back_if_the_driver_refuses_its_free)
{
    sc_ledger_pool_met(ledger, 99, &(unsigned){0}, 0, false);
    sc_ledger_given_of_pool(ledger, 1, 5 * MB, 1, 0, ONE);
    ck_assert(leaves_pool(1));
    ck_assert_uint_eq(held(SC_LEDGER_POOLED), 0);
    ck_assert_uint_eq(statement.pools[0].used.bytes, 0);
    ck_assert(!take(1));
    refuse();
    ck_assert_uint_eq(held(SC_LEDGER_POOLED), 5 * MB);
    ck_assert_uint_eq(statement.pools[0].used.bytes, 5 * MB);
    ck_assert_uint_eq(account_of(SC_LEDGER_POOLED, ONE)->ever_bytes, 5 * MB);
    ck_assert(leaves_pool(1));
    sc_ledger_given_of_pool(ledger, 1, 2 * MB, 1, 0, TWO); /* another thread's */
    refuse();
    ck_assert_uint_eq(held(SC_LEDGER_POOLED), 2 * MB);
    ck_assert(leaves_pool(1));
    ck_assert_uint_eq(held(SC_LEDGER_POOLED), 0);
    ck_assert_uint_eq(statement.pools[0].used.blocks, 0);
}
END_TEST

/* Two threads free a block at once: the one that finds no block in the ledger is the one whose free
 * the driver grants. */
START_TEST(a_block_that_another_thread_has_freed_meanwhile_does_not_come_back)
{
    struct sc_ledger_leaving other = {.was.name = 0};
    give(SC_LEDGER_PINNED, 1, 5 * MB, ONE);
    ck_assert(leaves(SC_LEDGER_ADDRESS, 1));
    ck_assert(!sc_ledger_leaves(ledger, SC_LEDGER_ADDRESS, 1, &other));
    sc_ledger_freed_unknown(ledger, 1);
    refuse();
    ck_assert_uint_eq(held(SC_LEDGER_PINNED), 0);
    ck_assert_uint_eq(ledger->sums[SC_LEDGER_UNKNOWN_FREES], 0);
    give(SC_LEDGER_PINNED, 1, 4 * MB, ONE);
    ck_assert(leaves(SC_LEDGER_ADDRESS, 1));
    refuse(); /* before the other thread has its answer */
    sc_ledger_freed_unknown(ledger, 1);
    ck_assert_uint_eq(held(SC_LEDGER_PINNED), 0);
    ck_assert_uint_eq(ledger->sums[SC_LEDGER_UNKNOWN_FREES], 0);
    give(SC_LEDGER_PINNED, 1, 3 * MB, ONE); /* a later block */
    ck_assert(leaves(SC_LEDGER_ADDRESS, 1));
    refuse();
    ck_assert_uint_eq(held(SC_LEDGER_PINNED), 3 * MB);
    sc_ledger_freed_unknown(ledger, 2); /* before the block had the address */
    give(SC_LEDGER_PINNED, 2, 2 * MB, ONE);
    ck_assert(leaves(SC_LEDGER_ADDRESS, 2));
    refuse();
    ck_assert_uint_eq(held(SC_LEDGER_PINNED), 5 * MB);
    ck_assert_uint_eq(ledger->sums[SC_LEDGER_UNKNOWN_FREES], 1);
}
END_TEST

/* Blocks that rest, blocks that do not, and addresses that nobody knows. */
START_TEST(each_free_has_a_number_of_its_own)
{
    sc_ledger_pool_met(ledger, 99, &(unsigned){0}, 0, false);
    ck_assert_uint_eq(sc_ledger_number_free(ledger), 1);
    sc_ledger_given_of_pool(ledger, 1, 5 * MB, 1, 0, ONE);
    give(SC_LEDGER_DEVICE, 2, 3 * MB, TWO);
    ck_assert(leaves_pool(1));
    ck_assert_uint_eq(number, 2);
    ck_assert(leaves_pool(2));
    ck_assert_uint_eq(number, 3);
    ck_assert(!leaves_pool(3));
    ck_assert_uint_eq(number, 4);
    ck_assert_uint_eq(sc_ledger_number_free(ledger), 5);
}
END_TEST

START_TEST(what_leaves_meanwhile_loses_no_block_whose_free_the_driver_refuses)
{
    sc_ledger_given_of_pool(ledger, 1, 5 * MB, 0, 0, ONE);
    give(SC_LEDGER_PINNED, 2, 3 * MB, TWO);
    ck_assert(leaves_pool(1));
    ck_assert(take(2));
    refuse();
    ck_assert_uint_eq(held(SC_LEDGER_POOLED), 5 * MB);
}
END_TEST

START_TEST(the_last_block_of_a_pool_that_is_gone_comes_back_to_it)
{
    sc_ledger_pool_met(ledger, 99, &(unsigned){0}, 0, false);
    sc_ledger_given_of_pool(ledger, 1, 5 * MB, 1, 0, ONE);
    sc_ledger_pool_gone(ledger, 99);
    ck_assert(leaves_pool(1));
    held(SC_LEDGER_POOLED);
    ck_assert_uint_eq(statement.pool_count, 0);
    refuse();
    ck_assert_uint_eq(held(SC_LEDGER_POOLED), 5 * MB);
    ck_assert_uint_eq(statement.pools[0].handle, 99);
    ck_assert(statement.pools[0].is_gone);
    ck_assert_uint_eq(statement.pools[0].used.bytes, 5 * MB);
}
END_TEST

START_TEST(a_pool_that_is_told_of_has_the_place_of_one_that_is_over)
{
    struct sc_ledger_suballocator told = {.owner = "a"};
    for (unsigned i = 0; i < 2 * SC_LEDGER_SUBALLOCATORS; i++, told.owner[0]++) {
        told.reserved_bytes = 1 * MB;
        sc_ledger_note_suballocator(ledger, &told);
        ck_assert_uint_eq(ledger->suballocators[0].reserved_bytes, 1 * MB);
        told.reserved_bytes = 0;
        sc_ledger_note_suballocator(ledger, &told);
        ck_assert_uint_eq(ledger->suballocators[0].reserved_bytes, 0);
    }
    for (unsigned i = 0; i < 2; i++, told.owner[0]++) {
        told.reserved_bytes = (i + 1) * MB;
        sc_ledger_note_suballocator(ledger, &told);
    }
    ck_assert_uint_eq(ledger->suballocators[0].reserved_bytes, 1 * MB);
    ck_assert_uint_eq(ledger->suballocators[1].reserved_bytes, 2 * MB);
}
END_TEST

START_TEST(a_block_that_comes_back_is_none_of_a_later_pool)
{
    sc_ledger_pool_met(ledger, 99, &(unsigned){0}, 0, false);
    sc_ledger_given_of_pool(ledger, 1, 5 * MB, 1, 0, ONE);
    ck_assert(leaves_pool(1));
    sc_ledger_pool_gone(ledger, 99);
    sc_ledger_pool_met(ledger, 98, &(unsigned){0}, 0, false);
    refuse();
    ck_assert_uint_eq(held(SC_LEDGER_POOLED), 5 * MB);
    ck_assert_uint_eq(statement.pools[0].handle, 98);
    ck_assert_uint_eq(statement.pools[0].used.bytes, 0);
}
END_TEST

START_TEST(a_block_at_an_address_that_was_freed_is_its_own)
{
    sc_ledger_pool_met(ledger, 99, &(unsigned){0}, 0, false);
    sc_ledger_pool_met(ledger, 98, &(unsigned){1}, 0, false);
    for (unsigned i = 0; i < 3; i++) {
        sc_ledger_given_of_pool(ledger, 1, 5 * MB, 1, 0, ONE);
        ck_assert(leaves_pool(1));
        ck_assert(!leaves_pool(1));
        ck_assert(sc_ledger_place_of(ledger, SC_LEDGER_ADDRESS, 1) < 0);
    }
    sc_ledger_given_of_pool(ledger, 1, 2 * MB, 1, 0, TWO);
    ck_assert_uint_eq(held(SC_LEDGER_POOLED), 2 * MB);
    ck_assert_uint_eq(account_of(SC_LEDGER_POOLED, TWO)->bytes, 2 * MB);
    ck_assert_uint_eq(account_of(SC_LEDGER_POOLED, ONE)->ever_bytes, 15 * MB);
    ck_assert(leaves_pool(1));
    sc_ledger_given_of_pool(ledger, 1, 3 * MB, 2, 1, ONE); /* of another device's pool */
    ck_assert_uint_eq(held(SC_LEDGER_POOLED), 0);
    ck_assert_uint_eq(draw(1)->kinds[SC_LEDGER_POOLED].bytes, 3 * MB);
    ck_assert(leaves_pool(1));
    give(SC_LEDGER_DEVICE, 1, 4 * MB, ONE);
    ck_assert_uint_eq(held(SC_LEDGER_DEVICE), 4 * MB);
    sc_ledger_end_context(ledger, CONTEXT);
    ck_assert_uint_eq(held(SC_LEDGER_DEVICE), 0);
    sc_ledger_given_of_pool(ledger, 1, 5 * MB, 1, 0, ONE);
    ck_assert_uint_eq(statement.places[0].kinds[SC_LEDGER_DEVICE].blocks, 0);
    ck_assert(leaves_pool(1));
    ck_assert_uint_eq(draw(0)->all.bytes + draw(1)->all.bytes, 0);
}
END_TEST

START_TEST(a_block_that_rested_while_its_pool_ended_is_of_the_later_one)
{
    sc_ledger_pool_met(ledger, 99, &(unsigned){0}, 0, false);
    sc_ledger_given_of_pool(ledger, 1, 5 * MB, 1, 0, ONE);
    ck_assert(leaves_pool(1));
    sc_ledger_pool_gone(ledger, 99);
    sc_ledger_given_of_pool(ledger, 1, 5 * MB, 1, 0, ONE); /* the pool was destroyed meanwhile */
    ck_assert_uint_eq(held(SC_LEDGER_POOLED), 5 * MB);
    sc_ledger_pool_met(ledger, 98, &(unsigned){0}, 0, false);
    ck_assert(leaves_pool(1));
    sc_ledger_given_of_pool(ledger, 1, 1 * MB, 1, 0, ONE);
    ck_assert_uint_eq(held(SC_LEDGER_POOLED), 1 * MB);
    ck_assert_uint_eq(statement.pools[0].used.bytes, 1 * MB);
}
END_TEST

/* More than can rest. */
START_TEST(blocks_at_many_addresses_are_known_until_they_are_freed)
{
    enum { MANY = 5000, ROUNDS = 3 };
    sc_ledger_pool_met(ledger, 99, &(unsigned){0}, 0, false);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        for (uint64_t i = 1; i <= MANY; i++)
            sc_ledger_given_of_pool(ledger, i << 9, i, 1, 0, ONE + i % 3);
        ck_assert_uint_eq(held(SC_LEDGER_POOLED), MANY * (MANY + 1) / 2);
        for (uint64_t i = 1; i <= MANY; i++)
            ck_assert(leaves_pool((round & 1 ? i : MANY + 1 - i) << 9));
        ck_assert_uint_eq(held(SC_LEDGER_POOLED), 0);
        for (uint64_t i = 1; i <= MANY; i++)
            ck_assert(!leaves_pool(i << 9));
    }
    ck_assert_uint_eq(statement.pools[0].used.blocks, 0);
    ck_assert_uint_le(ledger->index.entries.live, 1 << SC_LEDGER_LATEST_SHIFT);
}
END_TEST

START_TEST(a_block_that_others_may_have_open_is_listed_once)
{
    give(SC_LEDGER_DEVICE, 1, 3 * MB, ONE);
    give(SC_LEDGER_DEVICE, 2, 5 * MB, ONE);
    sc_ledger_exported(ledger, SC_LEDGER_ADDRESS, 1, 7, ONE);
    sc_ledger_exported(ledger, SC_LEDGER_ADDRESS, 2, 8, ONE);
    ck_assert(take(2));
    give(SC_LEDGER_DEVICE, 2, 6 * MB, TWO);
    ck_assert(take(1));
    sc_ledger_exported(ledger, SC_LEDGER_ADDRESS, 2, 9, TWO);
    draw(0);
    ck_assert_uint_eq(statement.mention_count, 1);
    ck_assert_int_eq(statement.mentions[0].what, SC_STATEMENT_EXPORT);
    ck_assert_uint_eq(statement.mentions[0].bytes, 6 * MB);
    ck_assert_uint_eq(statement.mentions[0].count, 9);
}
END_TEST

START_TEST(what_was_missed_of_a_name_does_not_count_twice)
{
    give(SC_LEDGER_DEVICE, 1, 5 * MB, ONE);
    give(SC_LEDGER_DEVICE, 1, 2 * MB, TWO);
    ck_assert_uint_eq(held(SC_LEDGER_DEVICE), 2 * MB);
    ck_assert_uint_eq(statement.places[0].kinds[SC_LEDGER_DEVICE].blocks, 1);
}
END_TEST

static void give_physical(uint64_t handle)
{
    give_in(SC_LEDGER_MEMORY, SC_LEDGER_PHYSICAL, handle, 64 * MB, 0);
}

static uint64_t references(void)
{
    draw(0);
    return account_of(SC_LEDGER_PHYSICAL, ONE)->references;
}

START_TEST(physical_memory_lives_as_long_as_references_and_mappings)
{
    give_physical(7);
    give_in(SC_LEDGER_MAPPING, SC_LEDGER_MAPPED, 0x10000, 64 * MB, 7);
    ck_assert(sc_ledger_add_reference(ledger, 7));
    ck_assert_uint_eq(references(), 2);
    ck_assert(leaves(SC_LEDGER_MEMORY, 7));
    ck_assert_uint_eq(references(), 1);
    refuse();
    ck_assert_uint_eq(references(), 2);
    ck_assert(take_from(SC_LEDGER_MEMORY, 7));
    ck_assert(take_from(SC_LEDGER_MEMORY, 7));
    ck_assert_uint_eq(references(), 0);
    ck_assert(!take_from(SC_LEDGER_MEMORY, 7)); /* the driver refuses it, too */
    ck_assert_uint_eq(held(SC_LEDGER_PHYSICAL), 64 * MB);
    ck_assert_uint_eq(held(SC_LEDGER_MAPPED), 64 * MB);
    ck_assert(take_from(SC_LEDGER_MAPPING, 0x10000));
    ck_assert_uint_eq(held(SC_LEDGER_PHYSICAL), 0);
    ck_assert_uint_eq(held(SC_LEDGER_MAPPED), 0);
    ck_assert(!sc_ledger_add_reference(ledger, 7));
}
END_TEST

START_TEST(unmapped_memory_lives_until_it_is_released)
{
    give_physical(7);
    give_in(SC_LEDGER_MAPPING, SC_LEDGER_MAPPED, 0x10000, 64 * MB, 7);
    ck_assert(take_from(SC_LEDGER_MAPPING, 0x10000));
    ck_assert_uint_eq(held(SC_LEDGER_PHYSICAL), 64 * MB);
    ck_assert(leaves(SC_LEDGER_MEMORY, 7));
    refuse();
    ck_assert_uint_eq(references(), 1);
    give_physical(7); /* another one of that name, where a release was missed */
    ck_assert_uint_eq(references(), 1);
    ck_assert_uint_eq(held(SC_LEDGER_PHYSICAL), 64 * MB);
    ck_assert(take_from(SC_LEDGER_MEMORY, 7));
    ck_assert_uint_eq(held(SC_LEDGER_PHYSICAL), 0);
}
END_TEST

START_TEST(imported_memory_counts_once_and_is_none_of_our_own)
{
    give(SC_LEDGER_IMPORTED, 1, 5 * MB, ONE);
    give(SC_LEDGER_IMPORTED, 1, 5 * MB, ONE);
    ck_assert_uint_eq(held(SC_LEDGER_IMPORTED), 5 * MB);
    ck_assert_uint_eq(statement.places[0].all.peak_bytes, 0);
    ck_assert(take(1));
    ck_assert_uint_eq(held(SC_LEDGER_IMPORTED), 5 * MB);
    ck_assert(take(1));
    ck_assert_uint_eq(held(SC_LEDGER_IMPORTED), 0);
}
END_TEST

START_TEST(imported_memory_is_as_large_as_its_mapping)
{
    give_in(SC_LEDGER_MEMORY, SC_LEDGER_IMPORTED, 7, 0, 0);
    give_in(SC_LEDGER_MAPPING, SC_LEDGER_MAPPED, 0x10000, 4 * MB, 7);
    give_in(SC_LEDGER_MAPPING, SC_LEDGER_MAPPED, 0x20000, 4 * MB, 7);
    ck_assert_uint_eq(held(SC_LEDGER_IMPORTED), 4 * MB);
    ck_assert_uint_eq(statement.places[0].kinds[SC_LEDGER_IMPORTED].blocks, 1);
    ck_assert_uint_eq(account_of(SC_LEDGER_IMPORTED, ONE)->bytes, 4 * MB);
    ck_assert(take_from(SC_LEDGER_MEMORY, 7));
    ck_assert(take_from(SC_LEDGER_MAPPING, 0x10000));
    ck_assert_uint_eq(held(SC_LEDGER_IMPORTED), 4 * MB);
    ck_assert(take_from(SC_LEDGER_MAPPING, 0x20000));
    ck_assert_uint_eq(held(SC_LEDGER_IMPORTED), 0);
}
END_TEST

START_TEST(a_context_takes_its_memory_along_and_no_other)
{
    for (unsigned i = 1; i <= 10000; i++)
        give(SC_LEDGER_DEVICE, i * 512, 512, ONE);
    give_physical(7);
    sc_ledger_end_context(ledger, OTHER);
    ck_assert_uint_eq(held(SC_LEDGER_DEVICE), 5120000);
    sc_ledger_end_context(ledger, CONTEXT);
    ck_assert_uint_eq(held(SC_LEDGER_DEVICE), 0);
    ck_assert_uint_eq(held(SC_LEDGER_PHYSICAL), 64 * MB);
    ck_assert(!take(512));
}
END_TEST

START_TEST(a_pool_knows_what_of_it_is_in_use)
{
    sc_ledger_pool_met(ledger, 97, &(unsigned){2}, 0, false);
    sc_ledger_pool_met(ledger, 99, &(unsigned){0}, 0, false);
    unsigned place = 0;
    ck_assert_uint_eq(sc_ledger_pool_number(ledger, 97, &place), 1);
    ck_assert_uint_eq(place, 2);
    sc_ledger_pool_gone(ledger, 97);
    ck_assert_uint_eq(sc_ledger_pool_number(ledger, 98, &place), 0);
    unsigned pool = sc_ledger_pool_number(ledger, 99, &place);
    sc_ledger_given_of_pool(ledger, 1, 3 * MB, pool, 0, ONE);
    sc_ledger_given_of_pool(ledger, 2, 1 * MB, 0, 0, ONE); /* of one that is not known */
    take(2);
    draw(0);
    ck_assert_uint_eq(statement.pool_count, 1);
    ck_assert_uint_eq(statement.pools[0].used.bytes, 3 * MB);
    sc_ledger_pool_gone(ledger, 99);
    ck_assert_uint_eq(sc_ledger_pool_number(ledger, 99, &place), 0);
    sc_ledger_pool_met(ledger, 99, &(unsigned){1}, 0, false);
    draw(0);
    ck_assert_uint_eq(statement.pool_count, 2); /* the old one is in use, and gone */
    take(1);
    draw(0);
    ck_assert_uint_eq(statement.pool_count, 1);
    ck_assert_uint_eq(statement.pools[0].place, 1);
    ck_assert_uint_eq(statement.pools[0].used.bytes, 0);
}
END_TEST

START_TEST(the_accounts_with_most_come_first)
{
    for (uint32_t i = 1; i <= 200; i++)
        give(SC_LEDGER_DEVICE, i, (i * 37 % 200 + 1) * KB, i);
    draw(0);
    ck_assert_uint_eq(statement.places[0].accounts, 200);
    ck_assert_uint_eq(statement.account_count, SC_STATEMENT_ACCOUNTS);
    for (unsigned i = 0; i < statement.account_count; i++)
        ck_assert_uint_eq(statement.accounts[i].bytes, (200 - i) * (uint64_t)KB);
}
END_TEST

/* ---- many threads ---- */

enum { THREADS = 16, ROUNDS = 20000, SLOTS = 64 };

static uint64_t lost_of(uint32_t origin)
{
    sc_statement_draw_never_freed(ledger, &statement);
    for (unsigned i = 0; i < statement.account_count; i++)
        if (statement.accounts[i].origin == origin)
            return statement.accounts[i].blocks;
    return 0;
}

static uint32_t made_at(uint32_t stack)
{
    return sc_origins_put("cuMemAlloc", stack, 0);
}

START_TEST(one_block_is_kept_and_several_are_lost)
{
    give(SC_LEDGER_DEVICE, 0x1000, KB, made_at(ONE));
    give(SC_LEDGER_DEVICE, 0x2000, KB, made_at(TWO));
    give(SC_LEDGER_DEVICE, 0x3000, KB, made_at(TWO));
    give(SC_LEDGER_ADDRESSES, 0x4000, KB, made_at(THREE));
    give(SC_LEDGER_ADDRESSES, 0x5000, KB, made_at(THREE));
    ck_assert_uint_eq(lost_of(made_at(ONE)), 0);
    ck_assert_uint_eq(lost_of(made_at(TWO)), 2);
    ck_assert_uint_eq(lost_of(made_at(THREE)), 0);
    ck_assert(take_from(SC_LEDGER_ADDRESS, 0x3000));
    ck_assert_uint_eq(lost_of(made_at(TWO)), 0);
}
END_TEST

START_TEST(a_block_that_outlives_the_last_context_is_lost_and_a_later_one_is_not)
{
    give(SC_LEDGER_POOLED, 0x1000, KB, made_at(ONE));
    give(SC_LEDGER_POOLED, 0x2000, KB, made_at(TWO));
    sc_ledger_note_outlived(ledger, 0, false);
    give(SC_LEDGER_POOLED, 0x3000, KB, made_at(TWO));
    ck_assert(take_from(SC_LEDGER_ADDRESS, 0x2000));
    give(SC_LEDGER_POOLED, 0x4000, KB, made_at(THREE));
    ck_assert_uint_eq(lost_of(made_at(ONE)), 1);
    ck_assert_uint_eq(lost_of(made_at(TWO)), 0);
    ck_assert_uint_eq(lost_of(made_at(THREE)), 0);
}
END_TEST

START_TEST(labels_tell_nothing_apart_of_what_is_lost)
{
    give(SC_LEDGER_DEVICE, 0x1000, KB, sc_origins_put("cuMemAlloc", ONE, 1));
    give(SC_LEDGER_DEVICE, 0x2000, KB, sc_origins_put("cuMemAlloc", ONE, 2));
    give(SC_LEDGER_PINNED, 0x3000, KB, made_at(ONE));
    ck_assert_uint_eq(lost_of(made_at(ONE)), 2);
}
END_TEST

START_TEST(nobody_knows_whether_one_place_made_blocks_without_a_stack)
{
    give(SC_LEDGER_DEVICE, 0x1000, KB, 0);
    give(SC_LEDGER_DEVICE, 0x2000, KB, 0);
    give(SC_LEDGER_DEVICE, 0x3000, KB, made_at(0));
    give(SC_LEDGER_DEVICE, 0x4000, KB, made_at(0));
    sc_statement_draw_never_freed(ledger, &statement);
    ck_assert_uint_eq(statement.account_count, 0);
}
END_TEST

START_TEST(what_a_reset_leaves_is_not_lost)
{
    give(SC_LEDGER_POOLED, 0x1000, KB, made_at(ONE));
    give(SC_LEDGER_POOLED, 0x2000, KB, made_at(ONE));
    sc_ledger_note_outlived(ledger, 0, true);
    ck_assert_uint_eq(lost_of(made_at(ONE)), 0);
    give(SC_LEDGER_POOLED, 0x3000, KB, made_at(ONE));
    ck_assert_uint_eq(lost_of(made_at(ONE)), 0);
    give(SC_LEDGER_POOLED, 0x4000, KB, made_at(ONE));
    ck_assert_uint_eq(lost_of(made_at(ONE)), 2);
}
END_TEST

static void *churn(void *argument)
{
    uint64_t first = ((uintptr_t)argument + 1) << 32, seed = first;
    bool is_given[SLOTS] = {false};
    for (unsigned i = 0; i < ROUNDS; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        unsigned slot = seed >> 33 & (SLOTS - 1);
        if (is_given[slot])
            sc_ledger_leaves_of_pool(ledger, first + slot,
                                     &(struct sc_ledger_leaving){.was.name = 0}, &(uint64_t){0});
        else if (slot % 2)
            sc_ledger_given_of_pool(ledger, first + slot, 1000 + slot, 1, 0, 1 + slot % 8);
        else
            give(SC_LEDGER_DEVICE, first + slot, 1000 + slot, 1 + slot % 8);
        is_given[slot] = !is_given[slot];
    }
    uint64_t left = 0;
    for (unsigned i = 0; i < SLOTS; i++)
        left += is_given[i] ? 1000 + i : 0;
    return (void *)(uintptr_t)left;
}

START_TEST(sixteen_threads_count_to_the_byte)
{
    pthread_t threads[THREADS];
    uint64_t sum = 0, of_accounts = 0;
    void *left;
    sc_ledger_pool_met(ledger, 99, &(unsigned){0}, 0, false);
    for (uintptr_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, churn, (void *)i), 0);
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &left);
        sum += (uintptr_t)left;
    }
    ck_assert_uint_eq(held(SC_LEDGER_DEVICE) + held(SC_LEDGER_POOLED), sum);
    ck_assert_uint_eq(statement.pools[0].used.bytes, held(SC_LEDGER_POOLED));
    uint64_t at_peak = 0;
    for (unsigned i = 0; i < statement.account_count; i++) {
        of_accounts += statement.accounts[i].bytes;
        at_peak += statement.accounts[i].peak_bytes;
    }
    ck_assert_uint_eq(of_accounts, sum);
    ck_assert_uint_eq(at_peak, statement.places[0].all.peak_bytes);
}
END_TEST

static uint64_t resident_bytes(void)
{
    unsigned long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%lu %lu", &size, &resident), 2);
    fclose(file);
    return resident * 4096;
}

START_TEST(a_million_blocks_take_64_mb_at_most)
{
    enum { BLOCKS = 1000000 };
    uint64_t before = resident_bytes();
    for (uint64_t i = 1; i <= BLOCKS; i++)
        give(SC_LEDGER_DEVICE, i * 512, 512, 1 + i % 100);
    ck_assert_uint_le(resident_bytes() - before, 64 * MB);
    ck_assert_uint_eq(held(SC_LEDGER_DEVICE), (uint64_t)512 * BLOCKS);
    for (uint64_t i = 1; i <= BLOCKS; i++)
        ck_assert(take(i * 512));
    ck_assert_uint_eq(held(SC_LEDGER_DEVICE), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ledger");
    TCase *test = tcase_create("ledger");
    tcase_add_checked_fixture(test, set_up, tear_down);
    tcase_set_timeout(test, 60);
    tcase_add_test(test, what_is_given_is_held_until_it_is_taken);
    tcase_add_test(test, who_held_what_at_the_peak_is_kept_when_it_is_over);
    tcase_add_test(test, a_free_that_the_driver_refuses_changes_nothing);
    tcase_add_test(test, a_block_that_another_thread_has_freed_meanwhile_does_not_come_back);
    tcase_add_test(test, each_free_has_a_number_of_its_own);
    tcase_add_test(test, a_block_that_is_handed_out_during_a_free_is_another_one);
    tcase_add_test(test, who_frees_what_another_thread_was_handed_meanwhile_knows_its_own);
    tcase_add_test(test, a_block_whose_context_ends_meanwhile_does_not_come_back);
    tcase_add_test(test, a_pools_block_comes_back_if_the_driver_refuses_its_free);
    tcase_add_test(test, what_leaves_meanwhile_loses_no_block_whose_free_the_driver_refuses);
    tcase_add_test(test, a_block_that_comes_back_is_none_of_a_later_pool);
    tcase_add_test(test, a_block_at_an_address_that_was_freed_is_its_own);
    tcase_add_test(test, a_block_that_rested_while_its_pool_ended_is_of_the_later_one);
    tcase_add_test(test, blocks_at_many_addresses_are_known_until_they_are_freed);
    tcase_add_test(test, a_block_that_others_may_have_open_is_listed_once);
    tcase_add_test(test, what_was_missed_of_a_name_does_not_count_twice);
    tcase_add_test(test, physical_memory_lives_as_long_as_references_and_mappings);
    tcase_add_test(test, unmapped_memory_lives_until_it_is_released);
    tcase_add_test(test, imported_memory_counts_once_and_is_none_of_our_own);
    tcase_add_test(test, imported_memory_is_as_large_as_its_mapping);
    tcase_add_test(test, a_context_takes_its_memory_along_and_no_other);
    tcase_add_test(test, a_pool_knows_what_of_it_is_in_use);
    tcase_add_test(test, the_accounts_with_most_come_first);
    tcase_add_test(test, one_block_is_kept_and_several_are_lost);
    tcase_add_test(test, a_block_that_outlives_the_last_context_is_lost_and_a_later_one_is_not);
    tcase_add_test(test, nobody_knows_whether_one_place_made_blocks_without_a_stack);
    tcase_add_test(test, what_a_reset_leaves_is_not_lost);
    tcase_add_test(test, the_last_block_of_a_pool_that_is_gone_comes_back_to_it);
    tcase_add_test(test, a_pool_that_is_told_of_has_the_place_of_one_that_is_over);
    tcase_add_test(test, labels_tell_nothing_apart_of_what_is_lost);
    tcase_add_test(test, sixteen_threads_count_to_the_byte);
    tcase_add_test(test, a_million_blocks_take_64_mb_at_most);
    suite_add_tcase(suite, test);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
