#include <data/file_checksums.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// Stays in a core's own cache; with four times as much, reading took six times as long.
constexpr std::size_t buffer_bytes = std::size_t{64} << 10;

struct FreeState {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
};

class ReadFile {
public:
    explicit ReadFile(fs::path path) : path_(std::move(path)) {
        descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        struct stat info{};
        if (descriptor_ < 0 || ::fstat(descriptor_, &info) != 0) fail();
        if (!S_ISREG(info.st_mode))
            throw DataError(fmt::format("cannot read {}: it is not a regular file", path_.string()));
        size_ = info.st_size;
    }
    ReadFile(ReadFile&& other) noexcept
        : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}
    ReadFile& operator=(ReadFile&&) = delete;
    ~ReadFile() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }

    const fs::path& path() const { return path_; }
    std::int64_t blocks() const { return (size_ + FileChecksums::block_bytes - 1) / FileChecksums::block_bytes; }
    std::int64_t end_of(std::int64_t block) const {
        return std::min((block + 1) * FileChecksums::block_bytes, size_);
    }
    std::uint64_t checksum(std::int64_t block) const {
        static thread_local std::vector<std::byte> buffer(buffer_bytes);
        const std::unique_ptr<XXH3_state_t, FreeState> state(XXH3_createState());
        XXH3_64bits_reset(state.get());
        for (std::int64_t at = block * FileChecksums::block_bytes, end = end_of(block); at < end;) {
            const auto wanted = std::min(buffer.size(), usize(end - at));
            const ssize_t found = ::pread(descriptor_, buffer.data(), wanted, at);
            if (found < 0 && errno == EINTR) continue;
            if (found < 0) fail();
            if (found == 0) break;  // it became shorter; the checksum will tell
            XXH3_64bits_update(state.get(), buffer.data(), usize(found));
            at += found;
        }
        return XXH3_64bits_digest(state.get());
    }

private:
    [[noreturn]] void fail() const {
        throw DataError(fmt::format("cannot read {}: {}", path_.string(), std::strerror(errno)));
    }

    fs::path path_;
    int descriptor_ = -1;
    std::int64_t size_ = 0;
};

/// Calls take(i) for i in [0, count) on so many threads, 0: all; rethrows what one of them threw. The threads are gone
/// afterwards: who forks then must have one, which a pool of OpenMP would not leave.
template <class Take>
void each_at_once(std::int64_t count, int threads, Take take) {
    const std::int64_t wanted = threads == 0 ? std::int64_t{std::thread::hardware_concurrency()} : threads;
    std::atomic<std::int64_t> next = 0;
    std::exception_ptr failed;
    std::mutex failing;
    const auto work = [&] {
        try {
            for (std::int64_t i = next++; i < count; i = next++) take(i);
        } catch (...) {
            next = count;
            const std::lock_guard held(failing);
            if (!failed) failed = std::current_exception();
        }
    };
    {
        std::vector<std::jthread> others;
        for (std::int64_t t = 1; t < std::min(wanted, count); ++t) others.emplace_back(work);
        work();
    }
    if (failed) std::rethrow_exception(failed);
}

}  // namespace

std::vector<std::string> array_files(const fs::path& store) {
    std::vector<std::string> names;
    std::error_code none;
    for (fs::recursive_directory_iterator item(store, none), end; item != end; item.increment(none)) {
        if (item->path().filename().string().starts_with('.'))
            item.disable_recursion_pending();
        else if (item->path().extension() == ".npy")
            names.push_back(item->path().lexically_relative(store).string());
    }
    std::ranges::sort(names);
    return names;
}

FileChecksums compute_checksums(const fs::path& store) {
    FileChecksums checksums;
    for (const std::string& name : array_files(store)) {
        const ReadFile file(store / name);
        auto& blocks = checksums.blocks[name];
        blocks.resize(usize(file.blocks()));
        each_at_once(file.blocks(), 0, [&](std::int64_t b) { blocks[usize(b)] = file.checksum(b); });
    }
    return checksums;
}

void check_blocks(const fs::path& store, const FileChecksums& checksums, BlockShare share, int threads) {
    std::int64_t all = 0;
    for (const auto& [name, blocks] : checksums.blocks) all += std::ssize(blocks);
    const std::int64_t first = all * share.index / share.count, end = all * (share.index + 1) / share.count;
    std::int64_t before = 0;
    for (const auto& [name, blocks] : checksums.blocks) {
        const std::int64_t from = std::max(first - before, std::int64_t{0}),
                           to = std::min(end - before, std::ssize(blocks));
        before += std::ssize(blocks);
        if (from >= to) continue;
        const ReadFile file(store / name);
        each_at_once(to - from, threads, [&](std::int64_t i) {
            const std::int64_t b = from + i;
            if (file.end_of(b) > b * FileChecksums::block_bytes && file.checksum(b) == blocks[usize(b)]) return;
            throw DataError(fmt::format(
                "{}: bytes {} to {} are not those that were written; the file is damaged, or was changed: import "
                "or "
                "generate the dataset again",
                file.path().string(), b * FileChecksums::block_bytes, (b + 1) * FileChecksums::block_bytes - 1));
        });
    }
}

json to_json(const FileChecksums& checksums) {
    json files = json::object();
    for (const auto& [name, blocks] : checksums.blocks) {
        std::string digits;
        for (const std::uint64_t block : blocks) digits += fmt::format("{:016x}", block);
        files[name] = std::move(digits);
    }
    return {{"block_bytes", FileChecksums::block_bytes}, {"files", std::move(files)}};
}

FileChecksums checksums_from_json(const json& j, const std::string& file) {
    const auto refuse = [&](const std::string& what) {
        return DataError(fmt::format("{}: \"checksums\" {}; import the dataset again", file, what));
    };
    if (!j.is_object() || !j.contains("files") || !j["files"].is_object()) throw refuse("are none");
    if (j.value("block_bytes", json()) != FileChecksums::block_bytes)
        throw refuse(fmt::format("are of blocks of {} bytes, this program reads {}",
                                 j.value("block_bytes", json()).dump(), FileChecksums::block_bytes));
    constexpr std::size_t digits = 16;
    FileChecksums checksums;
    for (const auto& [name, value] : j["files"].items()) {
        const std::string text = value.is_string() ? value.get<std::string>() : "?";
        const fs::path path(name);
        if (path.is_absolute() || std::ranges::find(path, "..") != path.end())
            throw refuse(fmt::format("name a file outside the store, '{}'", name));
        auto& blocks = checksums.blocks[name];
        for (std::size_t at = 0; at < text.size(); at += digits) {
            const std::string_view one = std::string_view(text).substr(at, digits);
            const auto parsed = std::from_chars(one.data(), one.data() + one.size(), blocks.emplace_back(), 16);
            if (one.size() != digits || parsed.ec != std::errc{} || parsed.ptr != one.data() + one.size())
                throw refuse(fmt::format("of {} are not 16 hexadecimal digits for each block", name));
        }
    }
    return checksums;
}

}  // namespace gnnbench
