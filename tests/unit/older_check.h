/* What the unit tests use and Check before 0.11 (Ubuntu 20.04) lacks. The Makefile puts it before
 * each of them. */
#ifndef SC_TESTS_UNIT_OLDER_CHECK_H
#define SC_TESTS_UNIT_OLDER_CHECK_H

#include <check.h>
#include <string.h>

#ifndef ck_assert_ptr_null
#define ck_assert_ptr_null(pointer) ck_assert_ptr_eq(pointer, NULL)
#define ck_assert_ptr_nonnull(pointer) ck_assert_ptr_ne(pointer, NULL)
#define ck_assert_mem_eq(one, other, size) ck_assert_int_eq(memcmp(one, other, size), 0)
#endif

#endif
