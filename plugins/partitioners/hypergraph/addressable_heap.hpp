#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "hypergraph.hpp"

namespace gnnbench::hypergraph {

/// A binary max-heap of vertices whose keys can change; of equal keys the smaller vertex first, so that the order is
/// one.
class AddressableHeap {
public:
    explicit AddressableHeap(Id vertices) : position_(vertices, absent) {}

    bool empty() const { return heap_.empty(); }
    bool contains(Id v) const { return position_[v] != absent; }
    Id top() const { return heap_.front().vertex; }
    std::int64_t top_key() const { return heap_.front().key; }

    void push(Id v, std::int64_t key) {
        heap_.push_back({key, v});
        rise(heap_.size() - 1);
    }
    void update(Id v, std::int64_t key) {
        const std::size_t at = position_[v];
        const bool rises = key > heap_[at].key;
        heap_[at].key = key;
        rises ? rise(at) : sink(at);
    }
    void erase(Id v) {
        const std::size_t at = position_[v];
        position_[v] = absent;
        const Entry last = heap_.back();
        heap_.pop_back();
        if (at == heap_.size()) return;
        heap_[at] = last;
        rise(at);
        sink(position_[last.vertex]);
    }
    void clear() {
        for (const Entry& e : heap_) position_[e.vertex] = absent;
        heap_.clear();
    }

private:
    struct Entry {
        std::int64_t key;
        Id vertex;
        bool before(const Entry& other) const {
            return key != other.key ? key > other.key : vertex < other.vertex;
        }
    };
    static constexpr Id absent = ~Id{0};

    void rise(std::size_t at) {
        const Entry entry = heap_[at];
        for (; at > 0 && entry.before(heap_[(at - 1) / 2]); at = (at - 1) / 2) place(at, heap_[(at - 1) / 2]);
        place(at, entry);
    }
    void sink(std::size_t at) {
        const Entry entry = heap_[at];
        for (std::size_t child; (child = 2 * at + 1) < heap_.size(); at = child) {
            if (child + 1 < heap_.size() && heap_[child + 1].before(heap_[child])) ++child;
            if (!heap_[child].before(entry)) break;
            place(at, heap_[child]);
        }
        place(at, entry);
    }
    void place(std::size_t at, const Entry& entry) {
        heap_[at] = entry;
        position_[entry.vertex] = static_cast<Id>(at);
    }

    std::vector<Entry> heap_;
    std::vector<Id> position_;  ///< length vertices: where each is in heap_, or absent
};

}  // namespace gnnbench::hypergraph
