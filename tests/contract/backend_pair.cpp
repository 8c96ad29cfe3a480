#include "contract/backend_pair.hpp"

namespace gnnbench::contract {
namespace {

const PluginCatalog& catalog() {
    static const PluginCatalog found;
    return found;
}

/// What GNNBENCH_CONTRACT asks for; empty: nothing.
std::string asked_cases() {
    const char* asked = std::getenv("GNNBENCH_CONTRACT");
    return asked ? asked : "";
}

/// Whether a format's name ends in a number above 2048, as "tiled-4096" does: the widest matrix here has 1,700
/// columns, so that it does what tiled-2048 does.
bool as_tiled_2048(const std::string& format) {
    const std::size_t number = format.find_last_not_of("0123456789") + 1;
    return number < format.size() && std::stoll(format.substr(number)) > 2048;
}

/// The parameters as they are, and each choice that is not about messages changed alone.
std::vector<BackendChoice> with_parameters(const BackendChoice& base) {
    const auto declared = catalog().find(PluginKind::kernel, base.name).params;
    std::vector<BackendChoice> out = {base};
    for (const ParamDecl& p : declared) {
        if (p.type != ParamType::choice || std::string(p.name) == "transport") continue;
        std::istringstream words(p.choices);
        for (std::string word; std::getline(words, word, '|');) {
            if (word == p.default_value) continue;
            if (std::string(p.name) == "format" && as_tiled_2048(word) && asked_cases() != "full") continue;
            BackendChoice changed = base;
            changed.params.set(p, word);
            changed.changed += std::string(" ") + p.name + "=" + word;
            out.push_back(changed);
        }
    }
    return out;
}

bool run(const BackendChoice& choice, DType dtype, std::vector<std::int64_t> widths, std::int64_t heads,
         const std::function<void(BackendPair&)>& test) {
    const auto plugin = catalog().kernel(choice.name);
    const KernelSetting setting{
        .dtype = dtype, .threads = 2, .params = choice.params, .widths = std::move(widths), .heads = heads};
    if (const std::string why = plugin->why_unsupported(setting); !why.empty()) {
        // Where it was asked for it must serve; CTest may know a machine without it by these words.
        if (dtype == DType::f32 && !asked_backend().empty())
            FAIL("skipped: kernel " << choice.name << choice.changed << ": " << why);
        if (dtype == DType::f32) WARN("skipped: kernel " << choice.name << choice.changed << ": " << why);
        return false;
    }
    static std::size_t pairs = 0;
    BackendPair pair{
        choice.name + choice.changed + (dtype == DType::f32 ? ", float32" : ", float64") +
            (setting.widths.empty() ? "" : ", widths known"),
        plugin->create(setting),
        catalog().kernel("reference")->create({.dtype = dtype, .params = Params(std::span<const ParamDecl>())}),
        [&] { return plugin->create(setting); }, pairs++};
    INFO("kernel " << pair.what);
    test(pair);
    return true;
}

}  // namespace

bool few_cases() { return asked_cases() == "twelfth"; }

bool BackendPair::takes_next() {
    const std::string request = asked_cases();
    const std::size_t stride = request == "third" ? 3 : request == "sixth" ? 6 : request == "twelfth" ? 12 : 1;
    return cases++ % stride == 0;
}

void for_every_backend(const std::function<void(BackendPair&)>& test, std::int64_t heads) {
    int ran = 0;
    for (const BackendChoice& base : backend_choices(catalog()))
        for (const DType dtype : {DType::f32, DType::f64}) ran += run(base, dtype, {}, heads, test);
    CHECK(ran > 0);
}

void for_every_choice(const std::function<void(BackendPair&)>& test, std::int64_t heads) {
    int ran = 0;
    for (const BackendChoice& base : backend_choices(catalog())) {
        for (const BackendChoice& choice : with_parameters(base))
            for (const DType dtype : {DType::f32, DType::f64}) ran += run(choice, dtype, {}, heads, test);
        run(base, DType::f32, {17, 64, 260}, heads, test);
    }
    CHECK(ran > 0);
}

}  // namespace gnnbench::contract
