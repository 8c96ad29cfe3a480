#include <data/importers/json_numbers.hpp>

#include <istream>
#include <streambuf>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <gnnbench/array_size.hpp>
#include <gnnbench/error.hpp>

#include <data/text_input.hpp>

namespace gnnbench {

namespace {

using nlohmann::json;

/// Longer than any vertex id or name of a mask.
constexpr std::size_t longest_key = 64;

/// A decompressed file as the standard library's streams take it.
class UnpackedBuffer : public std::streambuf {
public:
    explicit UnpackedBuffer(const std::filesystem::path& path) : stream_(path), file_(path.string()) {}

protected:
    int_type underflow() override {
        const auto piece = stream_.next();
        if (piece.empty()) return traits_type::eof();
        if (unpacked_ == 0) text_beginning(piece, file_);  // the parser passes over a mark itself
        unpacked_ += piece.size();
        if (unpacked_ > machine_memory_bytes() / 4)  // a parser may keep one endless word, twice
            throw EnvironmentError(
                fmt::format("{}: it unpacks to more than a quarter of this machine's memory", file_));
        auto first = const_cast<char*>(piece.data());
        setg(first, first, first + piece.size());
        return traits_type::to_int_type(*first);
    }

private:
    ByteStream stream_;
    std::string file_;
    std::uint64_t unpacked_ = 0;
};

class NumberLists : public nlohmann::json_sax<json> {
public:
    NumberLists(std::string file, const std::function<void(const JsonNumbers&)>& entry)
        : file_(std::move(file)), entry_(entry) {}

    bool null() override { return refuse("null"); }
    bool boolean(bool value) override { return number(value ? 1 : 0); }
    bool number_integer(number_integer_t value) override { return number(static_cast<double>(value)); }
    bool number_unsigned(number_unsigned_t value) override { return number(static_cast<double>(value)); }
    bool number_float(number_float_t value, const string_t&) override { return number(value); }
    bool string(string_t& value) override { return refuse("the text '" + shown(value) + "'"); }
    bool binary(binary_t&) override { return refuse("bytes"); }

    bool start_object(std::size_t) override {
        if (begun_) return refuse("an object");
        return begun_ = true;
    }
    bool key(string_t& name) override {
        if (name.size() > longest_key) return refuse("the key '" + shown(name) + "'");
        key_ = name;
        return true;
    }
    bool end_object() override { return true; }
    bool start_array(std::size_t) override {
        if (!begun_ || in_list_) return refuse("a list");
        values_.clear();
        return in_list_ = true;
    }
    bool end_array() override {
        in_list_ = false;
        entry_({key_, values_, true, where()});
        return true;
    }
    bool parse_error(std::size_t position, const std::string& token, const json::exception&) override {
        throw DataError(fmt::format("{}: it is not JSON, or ends too early, at byte {}: found '{}'", file_,
                                    position, shown(token)));
    }

private:
    std::string where() const { return fmt::format("{}, key '{}'", file_, key_); }
    bool number(double value) {
        if (!begun_) return refuse("a number");
        if (in_list_) {
            values_.push_back(value);
        } else {
            values_.assign(1, value);
            entry_({key_, values_, false, where()});
        }
        return true;
    }
    [[noreturn]] bool refuse(const std::string& found) const {
        throw DataError(fmt::format("{}: expected an object of numbers or lists of numbers, found {}",
                                    begun_ ? where() : file_, found));
    }

    std::string file_, key_;
    const std::function<void(const JsonNumbers&)>& entry_;
    std::vector<double> values_;
    bool begun_ = false, in_list_ = false;
};

}  // namespace

void read_json_numbers(const std::filesystem::path& path, const std::function<void(const JsonNumbers&)>& entry) {
    UnpackedBuffer buffer(path);
    std::istream in(&buffer);
    NumberLists reader(path.string(), entry);
    json::sax_parse(in, &reader);
}

}  // namespace gnnbench
