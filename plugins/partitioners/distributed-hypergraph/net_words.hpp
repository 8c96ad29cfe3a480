#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "halo.hpp"

namespace gnnbench::distributed {

/// A list of words for each net, own or ghost, that its owner makes and pushes to the ranks with copies.
class NetWords {
public:
    explicit NetWords(Id nets) : place_(nets) {}

    std::span<const std::uint32_t> of(Id net) const {
        return {pool_.data() + place_[net].first, place_[net].length};
    }
    void set(Id net, std::span<const std::uint32_t> words);
    /// Ghosts of the nets that `changed` marks get their owners' words, some at a time; calls arrived(ghost). Collective.
    template <class Arrived>
    void push_changed(const Ranks& ranks, const Halo& nets, const std::vector<char>& changed, Arrived&& arrived) {
        std::vector<Id> next(usize(ranks.count()));
        const auto left = [&] {
            for (int r = 0; r < ranks.count(); ++r)
                if (next[usize(r)] < nets.copies(r).size()) return true;
            return false;
        };
        while (ranks.maximum(left()) > 0) {
            Mail<std::uint32_t> mail(next.size());
            for (int r = 0; r < ranks.count(); ++r) {
                const std::vector<Id>& copies = nets.copies(r);
                std::vector<std::uint32_t>& out = mail[usize(r)];
                for (Id& i = next[usize(r)]; i < copies.size() && out.size() < words_at_once; ++i) {
                    if (!changed[copies[i]]) continue;
                    const auto words = of(copies[i]);
                    out.push_back(i);
                    out.push_back(static_cast<std::uint32_t>(words.size()));
                    out.insert(out.end(), words.begin(), words.end());
                }
            }
            const Received<std::uint32_t> in = ranks.exchange(mail);
            for (int r = 0; r < ranks.count(); ++r) {
                const auto words = in.from(r);
                for (std::size_t at = 0; at < words.size(); at += 2 + words[at + 1]) {
                    const Id ghost = nets.owned() + nets.run(r) + words[at];
                    set(ghost, words.subspan(at + 2, words[at + 1]));
                    arrived(ghost);
                }
            }
        }
    }

private:
    static constexpr std::size_t words_at_once = std::size_t{1} << 16;  ///< to each rank

    struct Place {
        std::uint64_t first = 0;
        std::uint32_t length = 0, room = 0;
    };
    void compact();

    std::vector<Place> place_;  ///< length nets
    std::vector<std::uint32_t> pool_;
    std::size_t unused_ = 0;  ///< words of the pool that no net has
};

}  // namespace gnnbench::distributed
