#pragma once
#include <memory>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

namespace gnnbench {

/// JSON that the cells of an experiment have in common and none changes. To copy it, to compare it with a copy, and to ask
/// for its text is cheap; thread-safe as any constant.
class SharedJson {
public:
    SharedJson() : SharedJson(nlohmann::json()) {}
    SharedJson(nlohmann::json value) : held_(std::make_shared<const Held>(std::move(value))) {}

    const nlohmann::json& operator*() const { return held_->value; }
    const nlohmann::json* operator->() const { return &held_->value; }
    /// As dump() writes it.
    const std::string& text() const { return held_->text; }

    friend bool operator==(const SharedJson& a, const SharedJson& b) { return a.held_ == b.held_ || *a == *b; }

private:
    struct Held {
        nlohmann::json value;
        std::string text;
        explicit Held(nlohmann::json v) : value(std::move(v)), text(value.dump()) {}
    };
    std::shared_ptr<const Held> held_;
};

}  // namespace gnnbench
