/* Words that streams write and wait for. A write tells the host that what is before it is done; a
 * wait is one for something that the library does not see, and what stands behind it is judged once
 * the host has waited for it. A part of random_program.h.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_TOLD_H
#define SC_TESTS_FUZZ_RANDOM_TOLD_H

/* ---- a memset before a word ---- */

static void write_word(int slot, cuuint32_t value)
{
    CUstreamBatchMemOpParams writes[2] = {{.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32}};
    writes[0].writeValue.address = place_of_word(value);
    writes[0].writeValue.value = value;
    writes[1] = writes[0];
    if (one_in(2))
        CHECK(cuStreamBatchMemOp(world.slots[slot].handle, 2, writes, 0));
    else
        CHECK(cuStreamWriteValue32(world.slots[slot].handle, place_of_word(value), value, 0));
}

static void fill_block(const struct device_use *use)
{
    unsigned char value = (unsigned char)draw();
    say("device block %d: memset on slot %d, %zu bytes at %zu; node %d", use->block, use->slot,
        use->size_bytes, use->offset, world.oracle.node_count);
    int node = oracle_add_node(&world.oracle, enter(use->slot));
    judge_use(use, node);
    CHECK(cuMemsetD8Async(address_of_use(use), value, use->size_bytes,
                          world.slots[use->slot].handle));
    keep_use(*use, node);
    memset(shadow_of_use(use), value, use->size_bytes);
    leave(use->slot);
}

static struct {
    atomic_bool goes_on;
    sem_t called;
} held;

/* It is not seen to wait for the program, as it would be at a semaphore: that might be what puts
 * the operations in order. */
static void hold(void *unused)
{
    (void)unused;
    note_function();
    while (!atomic_load(&held.goes_on))
        usleep(20);
    sem_post(&held.called);
}

/* What is before it may be known to be done from when it begins. */
static void begin_hold(int slot)
{
    say("a function on slot %d that goes on later", slot);
    atomic_store(&held.goes_on, false);
    sem_init(&held.called, 0, 0);
    int stream = enter(slot);
    int node = oracle_add_node(&world.oracle, stream);
    note_unclear(stream);
    CHECK(cuLaunchHostFunc(world.slots[slot].handle, hold, NULL));
    note_may_be_known(node, false);
    leave(slot);
}

static void end_hold(void)
{
    say("it goes on");
    atomic_store(&held.goes_on, true);
    wait_for(&held.called);
    let_function_return();
}

static int issue_word(int slot, cuuint32_t value)
{
    *(volatile cuuint32_t *)place_of_word(value) = 0;
    say("word %u on slot %d; node %d", value, slot, world.oracle.node_count);
    int node = oracle_add_node(&world.oracle, enter(slot));
    note_unclear(world.slots[slot].stream);
    write_word(slot, value);
    leave(slot);
    return node;
}

/* Of what the memset is put behind the host may hear by the word. */
static void learn_all_copies(void)
{
    for (int i = 0; i < world.copy_count; i++)
        if (in_flight(&world.copies[i]))
            learn(&world.copies[i]);
}

static bool can_hold(const struct device_use *first, const struct device_use *second)
{
    return shared.blocks[first->block].alive && first->stream != second->stream &&
           second->slot != 0;
}

/* The first memset waits until the second one is issued: the word cannot have been written yet, and
 * what nothing orders is a hazard. Afterwards the host may have seen the word. */
static void act_word(void)
{
    static cuuint32_t values;
    int block = below(DEVICE_BLOCKS), event = pick_event();
    if (!can_use_device(block))
        return;
    struct device_use first = use_of(block, pick_slot(), false);
    struct device_use second = use_of_all(block, pick_slot());
    if (!can_hold(&first, &second))
        return;
    order_before_use(&first);
    order_before_use(&second);
    learn_all_copies();
    begin_hold(first.slot);
    fill_block(&first);
    note_may_be_known(world.oracle.node_count - 1, false); /* what it was put behind */
    device_uses.list[device_uses.count - 1].may_be_known = false;
    int node = issue_word(first.slot, ++values);
    if (world.correct) {
        do_record(first.slot, event);
        do_wait(second.slot, event);
    }
    fill_block(&second);
    end_hold();
    bool hears = one_in(2);
    while (hears && *(volatile cuuint32_t *)place_of_word(values) != values)
        usleep(20);
    if (hears)
        say("the word was written");
    note_may_be_known(node, hears);
}

/* ---- waits for a word ---- */

/* Before those that are written. */
static CUdeviceptr place_of_awaited(cuuint32_t word)
{
    return place_of_word(word) - WORDS * sizeof word;
}

/* What is behind the wait is seen again when the host has waited for it, in whatever way. */
static void wait_for_wait(int slot)
{
    int event = pick_event(), other = pick_slot();
    int way = below(3);
    if (way == 0) {
        do_stream_sync(slot);
        return;
    }
    do_record(slot, event);
    if (way == 1) {
        do_event_sync(event);
        return;
    }
    do_wait(other, event);
    do_stream_sync(other);
}

static void act_wait_for_word(void)
{
    static cuuint32_t word;
    if (capture.open)
        return;
    int slot = pick_slot();
    CUdeviceptr address = place_of_awaited(++word);
    volatile cuuint32_t *place = (volatile cuuint32_t *)address;
    bool early = one_in(2);
    say("slot %d waits for word %u; node %d", slot, word, world.oracle.node_count);
    *place = early ? word : 0;
    int stream = enter(slot);
    oracle_add_node(&world.oracle, stream);
    note_unclear(stream);
    CHECK(cuStreamWaitValue32(world.slots[slot].handle, address, word, CU_STREAM_WAIT_VALUE_EQ));
    leave(slot);
    *place = word;
    wait_for_wait(slot);
}

#endif
