def balanced(text):
    text = "".join(c for c in text if c in "()[]{}")
    while True:
        shorter = text.replace("()", "").replace("[]", "").replace("{}", "")
        if shorter == text:
            return text == ""
        text = shorter
