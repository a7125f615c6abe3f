/* Makes a tree of what a run holds, by owners and kinds, or by functions that called each other. */
#ifndef SC_REPORT_COMMAND_MEMORY_TREE_H
#define SC_REPORT_COMMAND_MEMORY_TREE_H

#include "report/command/scratch.h"
#include "report/command/shown_memory.h"
#include "report/command/table.h"

#include <stddef.h>
#include <stdint.h>

struct sc_memory_branch {
    struct sc_node node; /* found by its parent and its name */
    const char *name;
    uint64_t bytes, blocks, peak_bytes;      /* with those of all branches below it */
    const struct sc_memory_account *account; /* the first account of these */
    struct sc_memory_branch *first, *next;
};

/* A tree. At first all is zero except the scratch, in which the branches are. Names stay the
 * caller's. */
struct sc_memory_tree {
    struct sc_scratch *scratch;
    struct sc_table table;
    struct sc_memory_branch root;
};

/* Adds an account to the branch with these `count` names, the first of which is below the root. */
void sc_memory_tree_add(struct sc_memory_tree *tree, const char *const *names, size_t count,
                        const struct sc_memory_account *account);

/* Sorts the branches below each branch: the largest come first. */
void sc_memory_tree_sort(struct sc_memory_tree *tree);

/* Frees the table; the branches are freed with the scratch. */
void sc_memory_tree_free(struct sc_memory_tree *tree);

#endif
