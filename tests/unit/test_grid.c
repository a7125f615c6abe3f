/* The interval index: cells and levels, boundaries, and readers that race with changes. */
#include "common/pool.h"
#include "tests/unit/destroy.h"
#include "track/grid.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 1 << 10, BASE = 0x10000000, SEEN_MAX = 4096 };

static struct sc_pool pool;
static struct sc_grid grid;
static unsigned visits[SEEN_MAX];
static unsigned visit_count;

static void set_up(void)
{
    sc_pool_init(&pool, sizeof(struct sc_grid_node));
    ck_assert_int_eq(sc_grid_init(&grid, &pool, CELLS), 0);
}

static void tear_down(void)
{
    destroy_grid(&grid);
    sc_pool_destroy(&pool);
}

static uint32_t insert(uintptr_t address, size_t size_bytes)
{
    uint32_t id = sc_pool_take(&pool);
    struct sc_grid_node *node = sc_pool_at(&pool, id);
    atomic_store(&node->address, address);
    atomic_store(&node->size_bytes, size_bytes);
    sc_grid_insert(&grid, id);
    return id;
}

static void take_out(uint32_t id)
{
    sc_grid_remove(&grid, id);
    sc_pool_release(&pool, id);
}

static void look_in(struct sc_grid *where, uintptr_t address, size_t size_bytes)
{
    memset(visits, 0, sizeof visits);
    visit_count = 0;
    SC_GRID_EACH (walk, where, address, size_bytes) {
        ck_assert_uint_lt(walk.id, SEEN_MAX);
        visits[walk.id]++;
        visit_count++;
    }
}

static void look(uintptr_t address, size_t size_bytes)
{
    look_in(&grid, address, size_bytes);
}

START_TEST(an_empty_grid_holds_nothing)
{
    ck_assert(sc_grid_is_empty(&grid));
    ck_assert_uint_eq(sc_grid_find_at(&grid, BASE), 0);
    ck_assert(!sc_grid_may_overlap(&grid, BASE, 1));
    ck_assert(!sc_grid_may_overlap(&grid, 0, SIZE_MAX));
    look(0, SIZE_MAX);
    ck_assert_uint_eq(visit_count, 0);
}
END_TEST

/* Sizes on both sides of every level's cell, aligned, unaligned and across a cell's border. */
START_TEST(every_size_is_found_at_both_ends_and_not_beside)
{
    for (unsigned shift = 0; shift < 46; shift++) {
        size_t cell = (size_t)1 << shift;
        const size_t sizes[] = {cell - (cell > 1), cell, cell + 1};
        const uintptr_t starts[] = {(uintptr_t)1 << 46, ((uintptr_t)1 << 46) + cell / 2 + 1,
                                    ((uintptr_t)1 << 46) - 1};
        for (int i = 0; i < 9; i++) {
            uintptr_t start = starts[i / 3];
            size_t size_bytes = sizes[i % 3];
            uint32_t id = insert(start, size_bytes);
            ck_assert_uint_eq(sc_grid_find_at(&grid, start), id);
            ck_assert_uint_eq(sc_grid_find_at(&grid, start + size_bytes / 2), id);
            ck_assert_uint_eq(sc_grid_find_at(&grid, start + size_bytes - 1), id);
            ck_assert_uint_eq(sc_grid_find_at(&grid, start - 1), 0);
            ck_assert_uint_eq(sc_grid_find_at(&grid, start + size_bytes), 0);
            ck_assert(sc_grid_may_overlap(&grid, start + size_bytes / 2, 1));
            ck_assert(sc_grid_may_overlap(&grid, start - 1, 2));
            look(start + size_bytes / 2, 1);
            ck_assert_uint_eq(visits[id], 1);
            look(start + size_bytes, 16);
            ck_assert_uint_eq(visit_count, 0);
            take_out(id);
            ck_assert(sc_grid_is_empty(&grid));
            ck_assert_uint_eq(sc_grid_find_at(&grid, start), 0);
        }
    }
}
END_TEST

START_TEST(a_huge_range_is_found_anywhere_in_it)
{
    uintptr_t start = 0x7f1234567000 - ((uintptr_t)100 << 40);
    size_t size_bytes = (size_t)100 << 40;
    uint32_t id = insert(start, size_bytes);
    for (size_t offset = 0; offset < size_bytes; offset += (size_t)1 << 38) {
        ck_assert_uint_eq(sc_grid_find_at(&grid, start + offset), id);
        ck_assert(sc_grid_may_overlap(&grid, start + offset, 64));
        look(start + offset, 64);
        ck_assert_uint_eq(visits[id], 1);
    }
    take_out(id);
    ck_assert(sc_grid_is_empty(&grid));
}
END_TEST

START_TEST(a_size_of_nothing_overlaps_nothing)
{
    insert(BASE, 4096);
    look(BASE, 0);
    ck_assert_uint_eq(visit_count, 0);
}
END_TEST

START_TEST(a_filter_of_many_cells_asks_whether_there_is_anything)
{
    enum { FINEST_MAX = 257 * 4096 - 1, LARGE = 256 << 10 };
    uint32_t id = insert(BASE, 64);
    uint32_t behind = insert(BASE + 0x1000000, 64);
    ck_assert(!sc_grid_may_overlap(&grid, BASE + 0x100000, FINEST_MAX));
    ck_assert(sc_grid_may_overlap(&grid, BASE + 0x100000, FINEST_MAX + 1));
    take_out(id);
    take_out(behind);
    ck_assert(!sc_grid_may_overlap(&grid, BASE + 0x100000, FINEST_MAX + 1));
    insert(BASE, LARGE);
    insert(BASE + 0x1000000, LARGE);
    ck_assert(!sc_grid_may_overlap(&grid, BASE + 0x100000, FINEST_MAX + 1));
    ck_assert(sc_grid_may_overlap(&grid, BASE + LARGE - 1, FINEST_MAX + 1));
    ck_assert(sc_grid_may_overlap(&grid, BASE + 0x1000000 - FINEST_MAX, FINEST_MAX + 1));
}
END_TEST

START_TEST(a_grid_reaches_as_far_as_what_came_since_it_was_empty)
{
    uint32_t middle = insert(BASE, 64);
    ck_assert(!sc_grid_may_reach(&grid, BASE + 64, SIZE_MAX));
    ck_assert(!sc_grid_may_reach(&grid, BASE - 64, 63));
    ck_assert(sc_grid_may_reach(&grid, BASE - 64, 65));
    ck_assert(sc_grid_may_reach(&grid, BASE - 64, SIZE_MAX));
    uint32_t behind = insert(BASE + 0x10000, 64);
    uint32_t before = insert(BASE - 0x10000, 64);
    ck_assert(sc_grid_may_reach(&grid, BASE - 0x10000, 1));
    ck_assert(sc_grid_may_reach(&grid, BASE + 0x10000 + 63, 1));
    take_out(before);
    take_out(middle);
    ck_assert(sc_grid_may_overlap(&grid, BASE + 0x10000, 1));
    take_out(behind);
    ck_assert(!sc_grid_may_reach(&grid, 0, SIZE_MAX));
    insert(BASE, 64);
    ck_assert(!sc_grid_may_reach(&grid, BASE + 0x10000, 1));
    ck_assert(sc_grid_may_reach(&grid, BASE, 1));
}
END_TEST

START_TEST(overlaps_are_visited_once_each_in_cells_or_in_the_table)
{
    uint32_t in_cell = insert(BASE + 100, 50);
    uint32_t across = insert(BASE + 4096 - 8, 16);
    uint32_t large = insert(BASE - 70000, 140001);
    uint32_t outside = insert(BASE + 0x800000, 4096);
    uint64_t small_cost = sc_grid_overlap_cost(&grid, BASE, 0x4000);
    ck_assert_uint_le(small_cost, CELLS);
    const size_t sizes[] = {0x4000, 0x700000}; /* the second has more cells than the table */
    for (int i = 0; i < 2; i++) {
        look(BASE, sizes[i]);
        ck_assert_uint_eq(visits[in_cell], 1);
        ck_assert_uint_eq(visits[across], 1);
        ck_assert_uint_eq(visits[large], 1);
        ck_assert_uint_eq(visits[outside], 0);
        ck_assert_uint_eq(visit_count, 3);
    }
    look(BASE + 4096, 4); /* only the second cell of `across` */
    ck_assert_uint_eq(visits[across], 1);
    ck_assert_uint_gt(sc_grid_overlap_cost(&grid, BASE, sizes[1]), CELLS);
}
END_TEST

/* In a small table two neighbouring cells may share a chain, which then has both of the item's
 * links: every border of 64 MB is a new throw of the dice. */
START_TEST(an_item_whose_two_cells_share_a_chain_is_visited_once)
{
    struct sc_grid small;
    ck_assert_int_eq(sc_grid_init(&small, &pool, 2), 0);
    for (uintptr_t border = 1; border < 200; border++) {
        uintptr_t address = (border << 26) - 8;
        uint32_t id = sc_pool_take(&pool);
        struct sc_grid_node *node = sc_pool_at(&pool, id);
        atomic_store(&node->address, address);
        atomic_store(&node->size_bytes, 16);
        sc_grid_insert(&small, id);
        for (uintptr_t start = address; start <= address + 8; start += 8) {
            look_in(&small, start, 8);
            ck_assert_uint_eq(visits[id], 1);
        }
        sc_grid_remove(&small, id);
        ck_assert(sc_grid_is_empty(&small));
        ck_assert_uint_eq(sc_grid_find_at(&small, address), 0);
        sc_pool_release(&pool, id);
    }
    destroy_grid(&small);
}
END_TEST

START_TEST(a_walk_goes_on_in_the_grid_behind)
{
    struct sc_grid behind;
    ck_assert_int_eq(sc_grid_init(&behind, &pool, 16), 0);
    uint32_t first = insert(BASE, 64);
    uint32_t second = sc_pool_take(&pool);
    struct sc_grid_node *node = sc_pool_at(&pool, second);
    atomic_store(&node->address, BASE + 4096);
    atomic_store(&node->size_bytes, 64);
    sc_grid_insert(&behind, second);
    const size_t sizes[] = {2 * 4096, (size_t)1 << 40};
    for (int i = 0; i < 2; i++) {
        struct sc_grid_walk walk = sc_grid_begin_walk(&grid, &behind, BASE, sizes[i]);
        ck_assert_uint_eq(walk.id, first);
        sc_grid_next(&walk);
        ck_assert_uint_eq(walk.id, second);
        sc_grid_next(&walk);
        ck_assert_uint_eq(walk.id, 0);
    }
    ck_assert_uint_eq(sc_grid_begin_walk(&grid, &behind, BASE + 4096, 1).id, second);
    ck_assert_uint_eq(sc_grid_begin_walk(&grid, &behind, BASE, 0).id, 0);
    sc_grid_remove(&behind, second);
    sc_pool_release(&pool, second);
    destroy_grid(&behind);
}
END_TEST

/* Thousands of items in a table of a thousand cells, against a plain array. */
START_TEST(a_crowded_grid_agrees_with_a_list)
{
    enum { ITEMS = 2000 };
    static struct {
        uintptr_t address;
        size_t size_bytes;
        uint32_t id;
    } items[ITEMS];
    srandom(7);
    for (int round = 0; round < 20000; round++) {
        int i = (int)(random() % ITEMS);
        if (items[i].id) {
            take_out(items[i].id);
            items[i].id = 0;
        } else {
            items[i].address = BASE + (uintptr_t)(random() % (1 << 26));
            items[i].size_bytes = 1 + (size_t)random() % ((size_t)1 << random() % 22);
            items[i].id = insert(items[i].address, items[i].size_bytes);
        }
        if (round % 50)
            continue;
        uintptr_t address = BASE + (uintptr_t)(random() % (1 << 26));
        size_t size_bytes = 1 + (size_t)random() % ((size_t)1 << random() % 24);
        unsigned expected = 0;
        look(address, size_bytes);
        for (int j = 0; j < ITEMS; j++)
            if (items[j].id && items[j].address < address + size_bytes &&
                address < items[j].address + items[j].size_bytes) {
                ck_assert_uint_eq(visits[items[j].id], 1);
                expected++;
            }
        ck_assert_uint_eq(visit_count, expected);
        ck_assert(!expected || sc_grid_may_overlap(&grid, address, size_bytes));
    }
}
END_TEST

static _Atomic bool stop;
static uint32_t lasting;

/* What lasts is always found or the reader is told to ask again; what is never there is not. */
static void *read_on(void *argument)
{
    uintptr_t hits = 0;
    (void)argument;
    while (!atomic_load(&stop)) {
        uint32_t id = sc_grid_find_at(&grid, BASE + 100);
        if (id != SC_GRID_RETRY && id != lasting)
            return (void *)UINTPTR_MAX;
        hits += id == lasting;
        if (!sc_grid_may_overlap(&grid, BASE + 120, 8))
            return (void *)(UINTPTR_MAX - 1);
        id = sc_grid_find_at(&grid, BASE + 3000);
        if (id != SC_GRID_RETRY && id != 0)
            return (void *)(UINTPTR_MAX - 2);
    }
    return (void *)hits;
}

START_TEST(readers_race_with_changes)
{
    enum { READERS = 3, ROUNDS = 100000 };
    pthread_t readers[READERS];
    uint32_t moving[16] = {0};
    atomic_store(&stop, false);
    lasting = insert(BASE + 64, 128);
    for (int i = 0; i < READERS; i++)
        ck_assert_int_eq(pthread_create(&readers[i], NULL, read_on, NULL), 0);
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t *id = &moving[round * 7 % 16];
        if (*id)
            take_out(*id);
        *id = *id ? 0 : insert(BASE + 512 + (uintptr_t)(round % 32) * 16, 16u << round % 3);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < READERS; i++) {
        void *hits;
        pthread_join(readers[i], &hits);
        ck_assert_uint_lt((uintptr_t)hits, UINTPTR_MAX - 2);
    }
    ck_assert_uint_eq(sc_grid_find_at(&grid, BASE + 100), lasting);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("grid");
    TCase *group = tcase_create("grid");
    tcase_add_checked_fixture(group, set_up, tear_down);
    tcase_set_timeout(group, 120);
    tcase_add_test(group, an_empty_grid_holds_nothing);
    tcase_add_test(group, every_size_is_found_at_both_ends_and_not_beside);
    tcase_add_test(group, a_huge_range_is_found_anywhere_in_it);
    tcase_add_test(group, a_size_of_nothing_overlaps_nothing);
    tcase_add_test(group, a_filter_of_many_cells_asks_whether_there_is_anything);
    tcase_add_test(group, a_grid_reaches_as_far_as_what_came_since_it_was_empty);
    tcase_add_test(group, overlaps_are_visited_once_each_in_cells_or_in_the_table);
    tcase_add_test(group, an_item_whose_two_cells_share_a_chain_is_visited_once);
    tcase_add_test(group, a_walk_goes_on_in_the_grid_behind);
    tcase_add_test(group, a_crowded_grid_agrees_with_a_list);
    tcase_add_test(group, readers_race_with_changes);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
