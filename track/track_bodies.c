/* The tracker's part for nodes in child graphs and in bodies of conditional nodes. */
#include "track/track_internal.h"

#include "track/poison.h"

void sc_track_graph_note_inner(struct sc_track *track, uintptr_t exec, uintptr_t inner,
                               uintptr_t around)
{
    lock(track);
    sc_graphs_note_inner(&track->graphs, exec, inner, around);
    unlock(track);
}

enum sc_graph_place sc_track_graph_place_of(struct sc_track *track, uintptr_t exec, uintptr_t node,
                                            uintptr_t *outer)
{
    lock(track);
    enum sc_graph_place place = sc_graphs_place_of(&track->graphs, exec, node, outer);
    unlock(track);
    return place;
}

struct sc_graph_flags sc_track_graph_drop_inner(struct sc_track *track, uintptr_t exec,
                                                uintptr_t outer, uintptr_t inner)
{
    lock(track);
    struct sc_graph_flags flags = sc_graphs_drop_inner(&track->graphs, exec, outer, inner);
    publish_watch(track);
    unlock(track);
    return flags;
}

void sc_track_graph_place_inner(struct sc_track *track, uintptr_t exec, uintptr_t outer,
                                uintptr_t inner, const struct sc_graph_flags *flags)
{
    lock(track);
    sc_graphs_place_inner(&track->graphs, exec, outer, inner, flags);
    unlock(track);
}

void sc_track_graph_lose_inner(struct sc_track *track, uintptr_t exec)
{
    lock(track);
    sc_graphs_lose_inner(&track->graphs, exec);
    unlock(track);
}
