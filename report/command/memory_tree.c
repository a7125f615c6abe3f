#include "report/command/memory_tree.h"

#include <stdlib.h>

/* Finds, or adds, the branch of this name below `parent`. */
static struct sc_memory_branch *grow(struct sc_memory_tree *tree, struct sc_memory_branch *parent,
                                     const char *name)
{
    struct sc_digester digester;
    sc_digest_begin(&digester);
    sc_digest_number(&digester, (int64_t)(uintptr_t)parent);
    sc_digest_word(&digester, name);
    struct sc_digest digest = sc_digest_end(&digester);
    struct sc_node *node = sc_table_find(&tree->table, &digest);
    if (node)
        return (struct sc_memory_branch *)(void *)node;
    struct sc_memory_branch *branch = sc_scratch_take(tree->scratch, sizeof *branch);
    branch->node.digest = digest;
    branch->name = name;
    branch->next = parent->first;
    parent->first = branch;
    sc_table_add(&tree->table, &branch->node);
    return branch;
}

/* Adds what an account holds to a branch of the tree of call stacks. The first account's names
 * stand for the branch. */
static void add(struct sc_memory_branch *branch, const struct sc_memory_account *account)
{
    if (!branch->account)
        branch->account = account;
    sc_shown_memory_add(&branch->bytes, account->bytes);
    sc_shown_memory_add(&branch->blocks, account->blocks);
    sc_shown_memory_add(&branch->peak_bytes, account->peak_bytes);
}

/* Adds an account along a path of names, to the sums of each branch on it. */
void sc_memory_tree_add(struct sc_memory_tree *tree, const char *const *names, size_t count,
                        const struct sc_memory_account *account)
{
    struct sc_memory_branch *branch = &tree->root;
    add(branch, account);
    for (size_t i = 0; i < count; i++) {
        branch = grow(tree, branch, names[i]);
        add(branch, account);
    }
}

/* ---- sorting ---- */

/* Returns what branches are sorted by. */
static uint64_t most_of(const struct sc_memory_branch *branch)
{
    return branch->bytes > branch->peak_bytes ? branch->bytes : branch->peak_bytes;
}

/* Merges two sorted lists. */
static struct sc_memory_branch *merge(struct sc_memory_branch *a, struct sc_memory_branch *b)
{
    struct sc_memory_branch *first = NULL, **last = &first;
    while (a && b) {
        struct sc_memory_branch **larger = most_of(b) > most_of(a) ? &b : &a;
        *last = *larger;
        last = &(*larger)->next;
        *larger = (*larger)->next;
    }
    *last = a ? a : b;
    return first;
}

/* Sorts a list of branches by halves. */
static struct sc_memory_branch *sort(struct sc_memory_branch *list)
{
    if (!list || !list->next)
        return list;
    struct sc_memory_branch *middle = list, *half;
    for (const struct sc_memory_branch *at = list->next; at && at->next; at = at->next->next)
        middle = middle->next;
    half = middle->next;
    middle->next = NULL;
    return merge(sort(list), sort(half));
}

/* Sorts the branches below this one, at all depths. */
static void sort_below(struct sc_memory_branch *branch)
{
    branch->first = sort(branch->first);
    for (struct sc_memory_branch *child = branch->first; child; child = child->next)
        sort_below(child);
}

void sc_memory_tree_sort(struct sc_memory_tree *tree)
{
    sort_below(&tree->root);
}

void sc_memory_tree_free(struct sc_memory_tree *tree)
{
    sc_table_free(&tree->table);
}
