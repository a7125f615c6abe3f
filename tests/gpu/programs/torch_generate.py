# env: CUBLAS_WORKSPACE_CONFIG=:4096:8
"""A small transformer that generates token by token: each step's graph is replayed with inputs that
were uploaded from pinned memory, and its token comes down to a ring of pinned words while the next
step runs."""

from support.common import require

torch = require("torch")

VOCABULARY, WIDTH, HEADS, LENGTH, BATCH = 512, 128, 4, 48, 4
IN_FLIGHT = 2


class Decoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(VOCABULARY, WIDTH)
        self.project = torch.nn.Linear(WIDTH, 3 * WIDTH)
        self.feed = torch.nn.Sequential(torch.nn.Linear(WIDTH, 4 * WIDTH), torch.nn.GELU(),
                                        torch.nn.Linear(4 * WIDTH, WIDTH))
        self.head = torch.nn.Linear(WIDTH, VOCABULARY)
        shape = (BATCH, HEADS, LENGTH, WIDTH // HEADS)
        self.register_buffer("keys", torch.zeros(shape))
        self.register_buffer("values", torch.zeros(shape))
        self.register_buffer("places", torch.arange(LENGTH))

    def forward(self, tokens, place):
        hidden = self.embed(tokens)
        query, key, value = self.project(hidden).view(BATCH, 3, HEADS, -1).unbind(1)
        self.keys.index_copy_(2, place, key.unsqueeze(2))
        self.values.index_copy_(2, place, value.unsqueeze(2))
        scores = (query.unsqueeze(2) * self.keys).sum(-1)
        scores = scores.masked_fill(self.places > place, float("-inf")).softmax(-1)
        mixed = (scores.unsqueeze(-1) * self.values).sum(2).reshape(BATCH, WIDTH)
        return self.head(hidden + self.feed(hidden + mixed)).argmax(-1)


def captured(model, tokens, place):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(2):
            model(tokens, place)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        chosen = model(tokens, place)
        tokens.copy_(chosen)
    return graph, chosen


@torch.no_grad()
def main():
    torch.manual_seed(2)
    model = Decoder().cuda()
    tokens = torch.zeros(BATCH, dtype=torch.long, device="cuda")
    place = torch.zeros(1, dtype=torch.long, device="cuda")
    graph, chosen = captured(model, tokens, place)
    model.keys.zero_(), model.values.zero_()
    tokens.copy_(torch.tensor([1, 2, 3, 4]))
    places = [torch.zeros(1, dtype=torch.long).pin_memory() for _ in range(IN_FLIGHT + 1)]
    ring = [torch.zeros(BATCH, dtype=torch.long).pin_memory() for _ in range(IN_FLIGHT + 1)]
    events = [torch.cuda.Event() for _ in range(IN_FLIGHT + 1)]
    sentences = []
    for step in range(LENGTH + IN_FLIGHT):
        slot = step % (IN_FLIGHT + 1)
        if step >= IN_FLIGHT + 1:
            events[slot].synchronize()
            sentences.append(ring[slot].tolist())
        if step < LENGTH:
            places[slot][0] = step
            place.copy_(places[slot], non_blocking=True)
            graph.replay()
            ring[slot].copy_(chosen, non_blocking=True)
            events[slot].record()
    torch.cuda.synchronize()
    for step, row in enumerate(sentences):
        if step % 8 == 0:
            print(step, row)


if __name__ == "__main__":
    main()
