/* What is kept of CPython's code objects: each once, from any number of threads, as wrappers of
 * many threads meet a function at one time. Under ThreadSanitizer the suite `sanitizers` runs it.
 */
#include "common/python_lines.h"
#include "track/python_codes.h"

#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, CODES = 4000, TABLE_BYTES = 4 };

/* A code with a name of its own whose first instruction is on line `number` + 1. */
static struct sc_python_identity identity_of(uint64_t number)
{
    return (struct sc_python_identity){.code = 0x7f0000000000 + number % 7 * 64,
                                       .file = 0x1000,
                                       .function = 0x2000 + number * 16,
                                       .table = 0x3000,
                                       .first_line = number + 1,
                                       .table_bytes = TABLE_BYTES};
}

/* As python_walk.c does it: copied where it is not known yet. */
static uint32_t take(uint64_t number)
{
    struct sc_python_identity identity = identity_of(number);
    char file[32], function[32];
    uint32_t id = sc_python_codes_find(&identity);
    if (id)
        return id;
    int file_bytes = snprintf(file, sizeof file, "/srv/part%d.py", (int)(number % 40));
    int function_bytes = snprintf(function, sizeof function, "Trainer.step%d", (int)number);
    struct sc_python_code *code =
        sc_python_codes_reserve((size_t)(file_bytes + function_bytes + TABLE_BYTES), &id);
    if (!code)
        return 0;
    code->identity = identity;
    code->file_bytes = (uint32_t)file_bytes;
    code->function_bytes = (uint32_t)function_bytes;
    code->table_bytes = TABLE_BYTES;
    code->format = SC_PYTHON_LINETABLE;
    memcpy(code->bytes, file, (size_t)file_bytes);
    memcpy(code->bytes + file_bytes, function, (size_t)function_bytes);
    memcpy(code->bytes + file_bytes + function_bytes, "\x08\0\x02\x01", TABLE_BYTES);
    return sc_python_codes_publish(id);
}

/* No assertion of Check's, which takes a lock. */
static bool reads_as(const void *word, uint64_t number)
{
    struct sc_python_frame frame;
    char file[32], function[32];
    snprintf(file, sizeof file, "/srv/part%d.py", (int)(number % 40));
    snprintf(function, sizeof function, "Trainer.step%d", (int)number);
    return sc_python_codes_frame(word, &frame) && frame.file_bytes == strlen(file) &&
           memcmp(frame.file, file, frame.file_bytes) == 0 &&
           frame.function_bytes == strlen(function) &&
           memcmp(frame.function, function, frame.function_bytes) == 0 &&
           frame.line == (int32_t)number + 1;
}

START_TEST(a_code_is_kept_once)
{
    uint32_t id = take(1);
    ck_assert_uint_ne(id, 0);
    ck_assert_uint_eq(take(1), id);
    ck_assert_uint_ne(take(2), id);
    ck_assert(reads_as(sc_python_codes_word(id, 0), 1));
    struct sc_python_frame frame;
    ck_assert(sc_python_codes_frame(sc_python_codes_word(id, 8), &frame));
    ck_assert_int_eq(frame.line, 3);
    ck_assert(!sc_python_codes_frame(frame.file, &frame));
}
END_TEST

/* Of one that was reserved twice before it was published, the second gives way. */
START_TEST(who_comes_second_takes_the_first_one_s)
{
    struct sc_python_identity identity = identity_of(3);
    uint32_t ids[2];
    for (int i = 0; i < 2; i++) {
        struct sc_python_code *code = sc_python_codes_reserve(0, &ids[i]);
        ck_assert_ptr_nonnull(code);
        code->identity = identity;
    }
    ck_assert_uint_eq(sc_python_codes_find(&identity), 0);
    ck_assert_uint_eq(sc_python_codes_publish(ids[1]), ids[1]);
    ck_assert_uint_eq(sc_python_codes_publish(ids[0]), ids[1]);
    ck_assert_uint_eq(sc_python_codes_find(&identity), ids[1]);
}
END_TEST

static uint32_t ids_of[THREADS][CODES];
static _Atomic(void *) words[CODES]; /* as stacks of the latest copies have them */
static _Atomic unsigned wrong;

/* Each begins elsewhere, and reads what the others have taken meanwhile. */
static void *take_all(void *argument)
{
    unsigned thread = (unsigned)(uintptr_t)argument;
    for (unsigned i = 0; i < CODES; i++) {
        unsigned number = i < CODES / 2 ? i : (i + thread * 97) % CODES;
        uint32_t id = take(number);
        ids_of[thread][number] = id;
        atomic_store_explicit(&words[number], sc_python_codes_word(id, 0), memory_order_release);
        unsigned other = (number + 1) % CODES;
        void *word = atomic_load_explicit(&words[other], memory_order_acquire);
        if (!reads_as(sc_python_codes_word(id, 0), number) || (word && !reads_as(word, other)))
            atomic_fetch_add(&wrong, 1);
    }
    return NULL;
}

START_TEST(threads_agree_on_codes)
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, take_all, (void *)i), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ck_assert_uint_eq(wrong, 0);
    for (unsigned number = 0; number < CODES; number++) {
        uint32_t id = take(number);
        for (int thread = 0; thread < THREADS; thread++)
            if (ids_of[thread][number] != 0 && ids_of[thread][number] != id)
                ck_abort_msg("thread %d has another id for code %u", thread, number);
    }
}
END_TEST

/* Last, since it fills the depot of its process. */
START_TEST(a_full_depot_says_so_and_keeps_what_it_has)
{
    uint32_t first = take(1), id = 0;
    unsigned large = 0;
    while (sc_python_codes_reserve(100000, &id))
        large++;
    ck_assert_uint_gt(large, 100);
    while (sc_python_codes_reserve(0, &id))
        ;
    ck_assert_uint_eq(id, 0);
    ck_assert_uint_eq(take(CODES + 1), 0);
    ck_assert_uint_eq(take(1), first);
    ck_assert(reads_as(sc_python_codes_word(first, 0), 1));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("python_codes");
    TCase *group = tcase_create("python_codes");
    tcase_add_test(group, a_code_is_kept_once);
    tcase_add_test(group, who_comes_second_takes_the_first_one_s);
    tcase_add_test(group, threads_agree_on_codes);
    tcase_add_test(group, a_full_depot_says_so_and_keeps_what_it_has);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
