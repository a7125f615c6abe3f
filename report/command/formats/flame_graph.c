#include "report/command/formats/flame_graph.h"

#include "report/command/formats/drawing.h"
#include "report/command/formats/escape.h"

enum {
    WIDTH = 840,
    ROW = 18,
    DEPTH_MAX = 64,
    WIDTH_MIN = 2,       /* of a rectangle: narrower ones are left out */
    CHARACTER_WIDTH = 7, /* of most characters */
};

struct graph {
    FILE *out;
    struct sc_scratch *scratch;
    bool at_the_peak;
    uint64_t all;
};

/* Returns what the branch's width stands for: bytes held now, or at the peak. */
static uint64_t weight_of(const struct graph *graph, const struct sc_memory_branch *branch)
{
    return graph->at_the_peak ? branch->peak_bytes : branch->bytes;
}

/* Returns how wide the branch is drawn: its share of all bytes. */
static double width_of(const struct graph *graph, const struct sc_memory_branch *branch)
{
    return WIDTH * ((double)weight_of(graph, branch) / (double)graph->all);
}

/* Returns the row of the deepest function that is drawn at or below the branch, which is in row
 * `depth`. */
static int depth_of(const struct graph *graph, const struct sc_memory_branch *branch, int depth)
{
    int deepest = depth;
    const struct sc_memory_branch *child = branch->first;
    for (; child && depth < DEPTH_MAX; child = child->next) {
        int below = width_of(graph, child) < WIDTH_MIN ? 0 : depth_of(graph, child, depth + 1);
        deepest = below > deepest ? below : deepest;
    }
    return deepest;
}

/* Draws one function, as wide as its share of the memory. */
static void draw_branch(const struct graph *graph, const struct sc_memory_branch *branch, double x,
                        int depth)
{
    int width = (int)width_of(graph, branch), y = ROW * (depth - 1);
    uint64_t bytes = weight_of(graph, branch);
    const char *size = sc_shown_memory_size(graph->scratch, bytes);
    fprintf(graph->out, "<g><title>");
    sc_escape_markup(graph->out, branch->name);
    fprintf(graph->out,
            ": %s, %.3g %%</title><rect class=\"flame%d\" x=\"%.1f\" y=\"%d\" width=\"%d\" "
            "height=\"%d\"/>",
            size, 100 * ((double)bytes / (double)graph->all), depth % 2, x, y,
            width > 1 ? width - 1 : 1, ROW - 1);
    if (width > 3 * CHARACTER_WIDTH)
        sc_drawing_put_text(graph->out, graph->scratch, (int)x + 3, y + 13, "",
                            sc_scratch_print(graph->scratch, "%s, %s", branch->name, size),
                            (size_t)(width - 6) / CHARACTER_WIDTH);
    fputs("</g>\n", graph->out);
}

/* Draws what the branch's function has called; what is too narrow is left out. */
static void draw_below(const struct graph *graph, const struct sc_memory_branch *branch, double x,
                       int depth)
{
    const struct sc_memory_branch *child = branch->first;
    for (; child && depth < DEPTH_MAX; child = child->next) {
        double width = width_of(graph, child);
        if (width < WIDTH_MIN)
            continue;
        draw_branch(graph, child, x, depth + 1);
        draw_below(graph, child, x, depth + 1);
        x += width;
    }
}

/* Draws which functions have asked for the memory, as nested bars. */
void sc_flame_graph_draw(FILE *out, struct sc_scratch *scratch, const struct sc_memory_tree *tree,
                         bool at_the_peak, const char *title, const char *id)
{
    struct graph graph = {out, scratch, at_the_peak, 0};
    graph.all = weight_of(&graph, &tree->root);
    if (graph.all == 0)
        return;
    fputs("<figure class=\"flames\"><figcaption>", out);
    sc_escape_markup(out, title);
    fputs("</figcaption>\n", out);
    sc_drawing_begin(out, WIDTH, ROW * depth_of(&graph, &tree->root, 0), id, title,
                     "Functions by the memory that was asked for in them: the outermost first, and "
                     "what they called below. The tree of owners has the same in words.");
    draw_below(&graph, &tree->root, 0, 0);
    sc_drawing_end(out);
    fputs("</figure>\n", out);
}
