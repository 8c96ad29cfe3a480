// Pickles and .npy arrays, as bytes; the first byte says which.
#include "fuzz/targets/target.hpp"

#include <span>

#include <data/importers/pickle.hpp>
#include <data/npy.hpp>

using namespace gnnbench;

GNNBENCH_FUZZ_TARGET(bytes) {
    const auto all = std::as_bytes(std::span(bytes));
    if (bytes.starts_with('\x93')) {
        const NpyArray array(std::vector<std::byte>(all.begin(), all.end()), "a");
        if (array.as<float>().size() != static_cast<std::size_t>(array.header().elements())) std::abort();
        array.as<std::int64_t>();
    } else {
        load_pickle(all, "p");
    }
}
