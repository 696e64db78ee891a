package lang_test

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// rejected are Chinese terms beside which there is another for the same thing, and the one that is used.
var rejected = []struct {
	term *regexp.Regexp
	use  string
}{
	{regexp.MustCompile(`延迟`), "时延"},
	{regexp.MustCompile(`在途|个进行中|进行中的(请求|流)`), "并发"},
	{regexp.MustCompile(`服务器|服务端`), "服务"},
	{regexp.MustCompile(`(^|[^百])分位数|百分位($|[^数])`), "百分位数"},
	{regexp.MustCompile(`到达速率`), "到达率"},
	{regexp.MustCompile(`饱和速率|饱和率`), "饱和点"},
	{regexp.MustCompile(`停止应答`), "停止响应"},
	{regexp.MustCompile(`应答|答复`), "回答"},
	{regexp.MustCompile(`关卡`), "门禁"},
	{regexp.MustCompile(`轨迹`), "trace"},
	{regexp.MustCompile(`成本`), "费用"},
	{regexp.MustCompile(`单价`), "价格"},
	{regexp.MustCompile(`已发表|已发布`), "公开"},
	{regexp.MustCompile(`失守|未满足`), "不满足"},
	{regexp.MustCompile(`强行终止|杀死`), "强制终止"},
	{regexp.MustCompile(`(\d|%d|%s|\]d|\]s) 个 GPU`), "张 GPU"},
	{regexp.MustCompile(`显卡|(^|[^网关])卡(数|[^片顿住死])|([每单多双]|\d|%d|%s|\])\s*卡`), "GPU"},
}

// readers read what others wrote, in their words.
var readers = regexp.MustCompile(`/report/published/(cells|columns|describe|guidellm|head|heading|preamble|` +
	`read|results|serving|sixcolumn|stress|table|vllm)\.go$`)

// TestTerms checks that reports, pages, views and the Chinese README have one Chinese term for one thing.
func TestTerms(t *testing.T) {
	texts := 0
	check := func(path, text string) {
		texts++
		for _, r := range rejected {
			if found := r.term.FindString(text); found != "" {
				t.Errorf("%s: %q: the term here is %s, not %s", path, text, r.use, found)
			}
		}
	}
	literals := func(path string, _ *token.FileSet, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && !readers.MatchString(filepath.ToSlash(path)) {
				check(path, lit.Value)
			}
			return true
		})
	}
	page := func(path, text string) {
		for line := range strings.Lines(text) {
			check(path, line)
		}
	}
	err := walk(literals, page, "../../client", "../../cmd", "../../report", "../../sweep", "../../examples")
	if err != nil || texts < 3000 {
		t.Errorf("%d texts were read: %v", texts, err)
	}
}
